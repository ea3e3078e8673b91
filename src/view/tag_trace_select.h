/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace_select: which lines of a code path are wanted, and what is open meanwhile.
 *
 * tag_select_new(); each line of the merge goes through tag_select_line(), which says
 * whether it is shown, and at what depth; tag_select_free(). At an exit it gives the
 * call that is left, so that its line of entry can be found. When --from is met,
 * tag_select_inside() gives what had been entered before. Functions are found by the
 * names that are shown, C++ without parameters too, or as in the names file, or "tag
 * N". One thread. Uses: base, trace, symbol.
 */
#ifndef ASSAY_VIEW_TAG_TRACE_SELECT_H
#define ASSAY_VIEW_TAG_TRACE_SELECT_H

#include "view/tag_trace.h"

#define TRACE_LINE_NONE UINT64_MAX

/* A call that is open. */
struct tag_open {
	uint64_t call, time;
	uint64_t number; /* of its line of entry in the window; TRACE_LINE_NONE: not shown */
	uint32_t tag, depth, process, who;
	bool left;
};

/* What tag_select_line() says, in bits. */
#define TAG_SHOWN 1u  /* it is wanted */
#define TAG_BEGINS 2u /* --from is met by it: tag_select_inside() has something to say */
#define TAG_OVER 4u   /* it and all that follow are behind --to */

struct tag_select;

/* -ENOENT: no names file has a function that is asked for. */
int tag_select_new(struct tag_select **s, const struct tag_trace *t,
                   const struct tag_trace_options *o, struct error *err);
void tag_select_free(struct tag_select *s);

/*
 * line->depth becomes the one that is shown. ENTER: *open is the call that was added; its
 * number is the caller's to set. EXIT: the call that is left, or NULL: its entry was not
 * told. Good until the next line. EXIT's call is forgotten then.
 */
unsigned tag_select_line(struct tag_select *s, struct trace_line *line, struct tag_open **open);

/* At TAG_BEGINS: gives lines for what was open before `line` came, by time. */
void tag_select_inside(struct tag_select *s, const struct trace_line *line,
                       void (*inside)(void *of, const struct trace_line *line), void *of);

void tag_select_result(const struct tag_select *s, struct tag_trace_result *result);

#endif
