/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU use of the largest processes over the time. */
#include "view/samples/document/report_document.h"

#include "base/text/figure.h"
#include "view/document/grid.h"
#include "view/samples/timeline.h"

#include <math.h>

/* The use in each window as a block character, in eighths of the largest use. */
static void blocks(const struct timeline *t, const struct timeline_line *line, struct buf *out)
{
	static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	for (size_t w = 0; w < t->windows; w++)
		buf_puts(out,
		         levels[line->most > 0 ? (int)ceil(8 * line->use[w] / line->most) : 0]);
}

static bool is_of_time(const struct report *r)
{
	return report_event(r) && report_event(r)->period_ns;
}

void report_document_time(struct report_writing *w)
{
	static const struct grid_column columns[] = {{"process", &unit_text, false},
	                                             {"use", &unit_text, false},
	                                             {"most", &unit_text, false}};
	const struct timeline *t = w->report->timeline;
	struct buf title = {0};
	struct grid *g;

	if (!t)
		return;
	g = grid_new(columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_line *line = &t->lines[i];

		grid_row(g, ROW_ITEM);
		grid_add(g, cell_text(processes_name(w->report->processes, line->process)));
		buf_clear(&w->text);
		blocks(t, line, &w->text);
		grid_add(g, cell_text(buf_text(&w->text)));
		if (is_of_time(w->report))
			grid_addf(g, "%.2f CPUs", line->most);
		else
			grid_addf(g, "%.3g events/s", 1e9 * line->most);
	}
	buf_clear(&w->text);
	buf_addf(&title, "Over time, %zu windows of ", t->windows);
	text_time(&title, (int64_t)t->window_ns);
	document_grid(w->document, buf_text(&title), "timeline", g);
	buf_done(&title);
}

void report_document_timeline(struct report_writing *w)
{
	const struct timeline *t = w->report->timeline;
	struct document *d = w->document;

	if (!t) {
		document_null(d, "timeline");
		return;
	}
	document_object(d, "timeline");
	document_int(d, "start_ns", (int64_t)t->start_ns);
	document_int(d, "window_ns", (int64_t)t->window_ns);
	document_int(d, "step_ns", (int64_t)t->step_ns);
	document_array(d, "processes");
	for (size_t i = 0; i < t->count; i++) {
		document_object(d, NULL);
		document_string(d, "name",
		                processes_name(w->report->processes, t->lines[i].process));
		document_array(d, "weights");
		for (size_t n = 0; n < t->windows; n++)
			document_int(d, NULL,
			             (int64_t)llround(t->lines[i].use[n] * (double)t->window_ns));
		document_end(d);
		document_end(d);
	}
	document_end(d);
	document_end(d);
}
