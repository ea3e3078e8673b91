/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace_select: selects the lines of a code path to show, and keeps the open calls.
 *
 * tag_select_new(); tag_select_line() for each line of the merge, which decides whether the line is
 * shown and at what depth; tag_select_free(). At an exit it returns the call that ends, so that the
 * caller can find its entry line. When --from is reached, tag_select_inside() returns the calls
 * that were entered earlier. Functions are found by the name that is shown (for C++ also without
 * parameters), by the name in the names file, or by "tag N". One thread. Uses: base, tags, symbol.
 */
#ifndef ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_SELECT_H
#define ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_SELECT_H

#include "view/tags/trace/tag_trace.h"

#define TRACE_LINE_NONE UINT64_MAX

/* An open call. */
struct tag_open {
	uint64_t call, time;
	uint64_t number; /* number of its entry line in the window; TRACE_LINE_NONE: not shown */
	uint32_t tag, depth, process, who;
	bool left;
};

/* Bits of the result of tag_select_line(). */
#define TAG_SHOWN 1u  /* the line is shown */
#define TAG_BEGINS 2u /* the line reaches --from: call tag_select_inside() */
#define TAG_OVER 4u   /* this line and all later ones are after --to */

struct tag_select;

/* -ENOENT: no names file has a requested function. */
int tag_select_new(struct tag_select **s, const struct tag_trace *t,
                   const struct tag_trace_options *o, struct error *err);
void tag_select_free(struct tag_select *s);

/*
 * Sets line->depth to the depth to show. ENTER: *open is the call that was added; the caller sets
 * its number. EXIT: *open is the call that ends, or NULL if its entry was not recorded; the call is
 * removed by the next line. *open is valid until the next line.
 */
unsigned tag_select_line(struct tag_select *s, struct trace_line *line, struct tag_open **open);

/* At TAG_BEGINS: makes lines for the calls that were open before `line`, in time order. */
void tag_select_inside(struct tag_select *s, const struct trace_line *line,
                       void (*inside)(void *of, const struct trace_line *line), void *of);

void tag_select_result(const struct tag_select *s, struct tag_trace_result *result);

#endif
