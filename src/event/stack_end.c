/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/stack_end.h"

static const struct {
	enum stack_quality quality;
	const char *why;
} ends[STACK_ENDS] = {
        [STACK_END_UNKNOWN] = {STACK_QUALITY_UNKNOWN, ""},
        [STACK_NONE] = {STACK_QUALITY_NONE, ""},
        [STACK_WHOLE] = {STACK_QUALITY_WHOLE, ""},
        [STACK_STITCHED] = {STACK_QUALITY_STITCHED, ""},
        [STACK_CUT_COPY] = {STACK_QUALITY_TRUNCATED, "deeper than the copy of the stack"},
        [STACK_CUT_LIMIT] = {STACK_QUALITY_TRUNCATED, "more frames than are followed"},
        [STACK_NO_TABLE] = {STACK_QUALITY_BROKEN, "code without unwind table or frame pointer"},
        [STACK_NO_FILE] = {STACK_QUALITY_BROKEN, "the file could not be read"},
        [STACK_NOT_CODE] = {STACK_QUALITY_BROKEN, "a return address outside of all code"},
        [STACK_BAD_RULE] = {STACK_QUALITY_BROKEN, "the unwind table leads out of the stack"},
        [STACK_NO_REGISTERS] = {STACK_QUALITY_BROKEN, "no registers of a 64-bit program"},
        [STACK_OTHER_STACK] = {STACK_QUALITY_TRUNCATED, "the caller is on another stack"},
};

enum stack_quality stack_quality(enum stack_end end)
{
	return end < STACK_ENDS ? ends[end].quality : STACK_QUALITY_UNKNOWN;
}

const char *stack_quality_name(enum stack_quality quality)
{
	static const char *const names[STACK_QUALITIES] = {
	        [STACK_QUALITY_UNKNOWN] = "unknown",     [STACK_QUALITY_NONE] = "none",
	        [STACK_QUALITY_WHOLE] = "whole",         [STACK_QUALITY_STITCHED] = "stitched",
	        [STACK_QUALITY_TRUNCATED] = "truncated", [STACK_QUALITY_BROKEN] = "broken",
	};

	return quality < STACK_QUALITIES ? names[quality] : "unknown";
}

const char *stack_end_why(enum stack_end end)
{
	return end < STACK_ENDS ? ends[end].why : "";
}
