/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/trace/tag_trace_window.h"

#include <string.h>

#define LINES_MIN 64
#define LINES_MAX ((uint64_t)1 << 24) /* upper limit of the window */

void tag_window_init(struct tag_window *w, const struct tag_trace *t, uint64_t limit,
                     trace_line_fn *line, void *of)
{
	uint64_t lines = LINES_MIN;

	if (limit > LINES_MAX)
		limit = LINES_MAX;
	while (lines < limit)
		lines *= 2;
	*w = (struct tag_window){
	        .mask = lines - 1, .limit = limit, .trace = t, .line = line, .of = of};
	/* Pages of the ring that no line uses are never allocated by the kernel. */
	w->ring = xcalloc(lines, sizeof(*w->ring));
}

void tag_window_done(struct tag_window *w)
{
	free(w->ring);
	memset(w, 0, sizeof(*w));
}

static bool waits(const struct trace_line *line)
{
	return line->kind == TRACE_LINE_ENTER && !line->known;
}

static void let_go(struct tag_window *w)
{
	const struct trace_line *line = &w->ring[w->first & w->mask];

	w->waiting -= waits(line);
	w->first++;
	if (!w->stopped && w->line(w->of, w->trace, line))
		w->stopped = true;
}

uint64_t tag_window_push(struct tag_window *w, const struct trace_line *line)
{
	struct trace_line *slot;

	if (w->next - w->first > w->mask)
		let_go(w);
	slot = &w->ring[w->next & w->mask];
	*slot = *line;
	slot->step = w->turns;
	w->waiting += waits(slot);
	return w->next++;
}

bool tag_window_resolve(struct tag_window *w, uint64_t number, const struct trace_line *exit)
{
	struct trace_line *line = &w->ring[number & w->mask];

	if (number < w->first)
		return false;
	w->waiting -= waits(line);
	line->known = true;
	line->net = exit->net;
	line->total = exit->total;
	line->end = exit->end;
	line->uncertain = exit->uncertain;
	return true;
}

void tag_window_turn(struct tag_window *w)
{
	w->turns++;
	while (w->first < w->next) {
		const struct trace_line *line = &w->ring[w->first & w->mask];

		if (waits(line) && w->turns - line->step <= w->limit)
			break;
		let_go(w);
	}
}

void tag_window_flush(struct tag_window *w)
{
	while (w->first < w->next)
		let_go(w);
}
