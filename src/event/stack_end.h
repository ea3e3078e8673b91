/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_end: how the user part of a sample's call chain ends, and why it ends there.
 *
 * The numbers are stored in files (docs/FORMAT.md): their meaning never changes. The functions are
 * stateless: any thread may call them. Uses: base.
 */
#ifndef ASSAY_EVENT_STACK_END_H
#define ASSAY_EVENT_STACK_END_H

#include <stdint.h>

enum stack_end {
	STACK_END_UNKNOWN = 0, /* the recording does not contain it */
	STACK_NONE = 1,        /* there is no user stack: kernel threads, idle */
	STACK_WHOLE = 2,       /* up to the thread's first function */
	STACK_STITCHED = 3,  /* whole; the older frames come from an earlier stack of the thread */
	STACK_CUT_COPY = 4,  /* truncated: deeper than the copied bytes */
	STACK_CUT_LIMIT = 5, /* truncated: more frames than the limit */
	/* Broken: the caller of the outermost frame cannot be found */
	STACK_NO_TABLE = 6, /* its code has no unwind table and no usable frame pointer */
	STACK_NO_FILE = 7,  /* its file could not be read: deleted or replaced */
	STACK_NOT_CODE = 8, /* the outermost address is not in executable memory */
	STACK_BAD_RULE = 9, /* the unwind rule leads outside the stack */
	STACK_NO_REGISTERS =
	        10, /* no registers were recorded, or those of another architecture (32-bit) */
	STACK_OTHER_STACK = 11, /* truncated: the caller is on another stack of the thread */
	STACK_ENDS
};

enum stack_quality {
	STACK_QUALITY_UNKNOWN,
	STACK_QUALITY_NONE,
	STACK_QUALITY_WHOLE,
	STACK_QUALITY_STITCHED,
	STACK_QUALITY_TRUNCATED,
	STACK_QUALITY_BROKEN,
	STACK_QUALITIES
};

enum stack_quality stack_quality(enum stack_end end);
const char *stack_quality_name(enum stack_quality quality); /* "whole", "stitched", ... */
/* The reason as text: "deeper than the copy of the stack"; "" if there is nothing to explain. */
const char *stack_end_why(enum stack_end end);

#endif
