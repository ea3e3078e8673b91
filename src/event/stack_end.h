/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_end: how the user's part of a sample's call chain ends, and why it
 * goes no further.
 *
 * The numbers stand in files (docs/FORMAT.md): they are never given another
 * meaning. Functions keep nothing: any thread. Uses: base.
 */
#ifndef ASSAY_EVENT_STACK_END_H
#define ASSAY_EVENT_STACK_END_H

#include <stdint.h>

enum stack_end {
	STACK_NOT_TOLD = 0,  /* the recorder says nothing of it */
	STACK_NONE = 1,      /* there is no user stack: kernel threads, idle */
	STACK_WHOLE = 2,     /* up to the thread's first function */
	STACK_STITCHED = 3,  /* whole, the older frames from what the thread showed before */
	STACK_CUT_COPY = 4,  /* truncated: deeper than the copy, nothing known beyond */
	STACK_CUT_LIMIT = 5, /* truncated: more frames than are followed */
	/* Broken: the caller of the outermost frame cannot be found */
	STACK_NO_TABLE = 6,      /* its code has no unwind table, and no frame pointer that helps */
	STACK_NO_FILE = 7,       /* its file could not be read: gone, or not the one that ran */
	STACK_NOT_CODE = 8,      /* the outermost address lies in nothing executable */
	STACK_BAD_RULE = 9,      /* the rule leads out of the stack or nowhere */
	STACK_NO_REGISTERS = 10, /* none were recorded, or of another machine (32-bit) */
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
/* Why, for people: "deeper than the copy of the stack"; "" where there is nothing to explain. */
const char *stack_end_why(enum stack_end end);

#endif
