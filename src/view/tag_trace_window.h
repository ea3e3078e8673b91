/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace_window: lines that wait for the exits of their calls.
 *
 * tag_window_init(); tag_window_push() gives a line's number; tag_window_resolve() once the
 * call's times are known; tag_window_turn() after each event, which lets go of what need
 * not wait, or has waited for `limit` events; tag_window_flush() at the end. Order is
 * kept: what stands behind a line that waits, waits. One line an event at most is what
 * bounds it; where more come, the oldest go. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_TAG_TRACE_WINDOW_H
#define ASSAY_VIEW_TAG_TRACE_WINDOW_H

#include "view/tag_trace.h"

struct tag_window {
	struct trace_line *ring;
	uint64_t mask;        /* its lines - 1 */
	uint64_t first, next; /* numbers of the oldest line in it and of the next to come */
	uint64_t waiting;     /* of them: entries without times */
	uint64_t turns, limit;
	const struct tag_trace *trace;
	trace_line_fn *line;
	void *of;
	bool stopped; /* no more lines are wanted */
};

void tag_window_init(struct tag_window *w, const struct tag_trace *t, uint64_t limit,
                     trace_line_fn *line, void *of);
void tag_window_done(struct tag_window *w);
uint64_t tag_window_push(struct tag_window *w, const struct trace_line *line);
/* `exit` is the call's; false: the line has gone, without times. */
bool tag_window_resolve(struct tag_window *w, uint64_t number, const struct trace_line *exit);
void tag_window_turn(struct tag_window *w);
void tag_window_flush(struct tag_window *w);

#endif
