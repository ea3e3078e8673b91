/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the path that decided the elapsed time. */
#include "view/waits/wait_document.h"

enum path_figure { FIGURE_NS, FIGURE_COUNT, FIGURE_SAVES };
enum path_word { WORD_THREAD, WORD_KIND, WORD_NAME, WORD_FUNCTION };

#define FASTER 10 /* percent */

static const struct wait_path_row *row_at(const struct row_source *s, uint32_t row)
{
	return &((const struct wait_path *)s->model)->rows.items[row];
}

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct wait_path_row *r = row_at(s, row);

	switch ((enum path_figure)c->argument) {
	case FIGURE_NS:
		return cell_int((int64_t)r->ns);
	case FIGURE_COUNT:
		return cell_int((int64_t)r->count);
	case FIGURE_SAVES:
		return r->can_shorten ? cell_int((int64_t)(r->ns * FASTER / 100)) : cell_none();
	}
	return cell_none();
}

static struct cell word_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct wait_report *report = ((const struct wait_path *)s->model)->report;
	const struct wait_path_row *r = row_at(s, row);
	uint32_t id = c->argument == WORD_THREAD ? r->thread
	              : c->argument == WORD_NAME ? r->name
	                                         : r->function;

	if (c->argument == WORD_KIND)
		return cell_text(r->kind);
	return id ? cell_text(wait_text(report, id)) : cell_none();
}

struct row_set *wait_path_rows(struct wait_path *p)
{
	static const char *const by[] = {"ns"};
	const struct report_request *q = &p->report->options->request;
	struct cell all = cell_int((int64_t)(p->path.to_ns - p->path.from_ns));
	const struct column columns[] = {
	        {"share", "share", "share", &unit_share, ROLE_RATIO, .bar = true, .of = "ns",
	         .base = all, .cut = true},
	        {"ns", "time", "ns", &unit_time, ROLE_SUM, .argument = FIGURE_NS,
	         .get = figure_cell},
	        {"saves", "10 % less saves", "saves_ns", &unit_time, ROLE_KEY,
	         .argument = FIGURE_SAVES, .room = 90, .get = figure_cell},
	        {"count", NULL, "count", &unit_count, ROLE_SUM, .argument = FIGURE_COUNT,
	         .get = figure_cell},
	        {"thread", "thread", "thread", &unit_text, .argument = WORD_THREAD,
	         .get = word_cell},
	        {"kind", "kind", "kind", &unit_text, .argument = WORD_KIND, .get = word_cell},
	        {"name", "for", "name", &unit_text, .argument = WORD_NAME, .get = word_cell},
	        {"function", "function", "function", &unit_text, .argument = WORD_FUNCTION,
	         .get = word_cell},
	};
	struct row_source *s = row_source_new(p);
	struct row_request request = {
	        .by = by, .by_count = 1, .limit = request_limit(q, &q->reader), .lines = q->lines};

	s->rows = (uint32_t)p->rows.count;
	s->squeezed = true;
	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	return row_set_new(s, &request);
}
