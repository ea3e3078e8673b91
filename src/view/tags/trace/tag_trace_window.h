/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace_window: delays lines until the exits of their calls.
 *
 * tag_window_init(); tag_window_push() returns a line's number; tag_window_resolve() is called when
 * the times of a call are known; tag_window_turn() is called after each event and passes on the
 * lines that need not wait, or that have waited for `limit` events; tag_window_flush() at the end;
 * tag_window_done() frees. The order of lines is kept: lines behind a waiting line wait too. If
 * more than one line per event is pushed, the ring may be full; the oldest line is then passed on
 * without times. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_WINDOW_H
#define ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_WINDOW_H

#include "view/tags/trace/tag_trace.h"

struct tag_window {
	struct trace_line *ring;
	uint64_t mask;        /* number of lines in the ring - 1 */
	uint64_t first, next; /* numbers of the oldest line in the ring and of the next line to
	                       * push */
	uint64_t waiting;     /* entry lines in the ring without times */
	uint64_t turns, limit;
	const struct tag_trace *trace;
	trace_line_fn *line;
	void *of;
	bool stopped; /* no more lines are needed */
};

void tag_window_init(struct tag_window *w, const struct tag_trace *t, uint64_t limit,
                     trace_line_fn *line, void *of);
void tag_window_done(struct tag_window *w);
uint64_t tag_window_push(struct tag_window *w, const struct trace_line *line);
/* `exit` has the call's times. False: the entry line has been passed on without times. */
bool tag_window_resolve(struct tag_window *w, uint64_t number, const struct trace_line *exit);
void tag_window_turn(struct tag_window *w);
void tag_window_flush(struct tag_window *w);

#endif
