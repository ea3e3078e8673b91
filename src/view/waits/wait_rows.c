/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of causes. */
#include "view/waits/wait_document.h"

#include <math.h>

enum wait_figure {
	FIGURE_COUNT,
	FIGURE_BLOCKED,
	FIGURE_RUNNABLE,
	FIGURE_WAITED,
	FIGURE_P50,
	FIGURE_P99,
	FIGURE_MAX,
	FIGURE_LOST
};

/* The rows with waits. */
struct wait_row_list {
	struct wait_report *report;
	VEC(uint32_t) rows;
};

static const struct wait_row *row_at(const struct row_source *s, uint32_t row)
{
	const struct wait_row_list *l = s->model;

	return &l->report->rows.items[l->rows.items[row]];
}

static struct cell known_cell(double ns)
{
	return isnan(ns) ? cell_none() : cell_int(llrint(ns));
}

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct wait_row *r = row_at(s, row);

	switch ((enum wait_figure)c->argument) {
	case FIGURE_COUNT:
		return cell_int((int64_t)r->count);
	case FIGURE_BLOCKED:
		return cell_int((int64_t)r->blocked_ns);
	case FIGURE_RUNNABLE:
		return cell_int((int64_t)r->runnable_ns);
	case FIGURE_WAITED:
		return cell_int((int64_t)(r->blocked_ns + r->runnable_ns));
	case FIGURE_P50:
		return known_cell(wait_row_percentile(r, 0.5));
	case FIGURE_P99:
		return known_cell(wait_row_percentile(r, 0.99));
	case FIGURE_MAX:
		return cell_int((int64_t)r->max_ns);
	case FIGURE_LOST:
		return cell_int((int64_t)r->lost_ns);
	}
	return cell_none();
}

static struct cell text_cell(const struct wait_report *r, uint32_t text)
{
	return text ? cell_text(wait_text(r, text)) : cell_none();
}

struct cell wait_row_word(const struct wait_report *report, const struct wait_row *r,
                          enum wait_word word)
{
	const char *evidence = wait_evidence_name(r->evidence);
	const struct symbol *symbol;

	switch (word) {
	case WAIT_WORD_KIND:
		return cell_text(wait_kind_name(r->kind));
	case WAIT_WORD_NAME:
		return text_cell(report, r->name);
	case WAIT_WORD_DEVICE:
		return text_cell(report, r->device);
	case WAIT_WORD_WAITER:
		return text_cell(report, r->waiter);
	case WAIT_WORD_BY:
		return text_cell(report, r->by);
	case WAIT_WORD_HOLDER:
		return text_cell(report, r->holder);
	case WAIT_WORD_EVIDENCE:
		return evidence ? cell_text(evidence) : cell_none();
	case WAIT_WORD_IN:
		if (!report->view)
			return text_cell(report, r->function);
		symbol = r->place == ID_NONE ? NULL : view_function(report->view, r->place);
		return symbol && symbol->named ? cell_text(symbol->name) : cell_none();
	}
	return cell_none();
}

static struct cell word_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct wait_report *report = ((const struct wait_row_list *)s->model)->report;

	return wait_row_word(report, row_at(s, row), (enum wait_word)c->argument);
}

/* The lower end of a bucket of durations. */
static int64_t bucket_from(uint32_t bucket)
{
	uint32_t low = bucket ? bucket - 1 : 0;

	return llrint((call_times_bucket_ns(low) + call_times_bucket_ns(bucket)) / 2);
}

/* "histogram": steps with their counts, the last one without an end. */
static void histogram_json(const struct row_source *s, const struct column *c, uint32_t row,
                           struct json *j)
{
	const struct wait_row *r = row_at(s, row);

	json_key(j, c->key);
	json_array(j);
	vec_each (bucket, &r->times.buckets) {
		json_object(j);
		json_ki64(j, "from_ns", bucket_from(bucket->bucket));
		json_ki64(j, "to_ns", bucket_from(bucket->bucket + 1));
		json_ki64(j, "count", (int64_t)bucket->count);
		json_end_object(j);
	}
	json_end_array(j);
}

static void add_columns(struct row_source *s, const struct wait_report *r)
{
	struct cell all = cell_int((int64_t)wait_account_whole(&r->account));
	const struct column columns[] = {
	        {"share", "share", "share", &unit_share, ROLE_RATIO, .bar = true, .of = "waited",
	         .base = all, .cut = true},
	        {"waited", .unit = &unit_time, .role = ROLE_SUM, .argument = FIGURE_WAITED,
	         .get = figure_cell},
	        {"blocked", "blocked", "blocked_ns", &unit_time, ROLE_SUM,
	         .argument = FIGURE_BLOCKED, .get = figure_cell},
	        {"runnable", "runnable", "runnable_ns", &unit_time, ROLE_SUM,
	         .argument = FIGURE_RUNNABLE, .get = figure_cell, .blank_zero = true},
	        {"count", "waits", "count", &unit_count, ROLE_SUM, .argument = FIGURE_COUNT,
	         .get = figure_cell},
	        {"p50", "p50", "p50_ns", &unit_time, ROLE_KEY, .argument = FIGURE_P50, .room = 110,
	         .get = figure_cell},
	        {"p99", "p99", "p99_ns", &unit_time, ROLE_KEY, .argument = FIGURE_P99, .room = 110,
	         .get = figure_cell},
	        {"max", "max", "max_ns", &unit_time, ROLE_MOST, .argument = FIGURE_MAX,
	         .get = figure_cell},
	        {"lost", NULL, "lost_ns", &unit_time, ROLE_SUM, .argument = FIGURE_LOST,
	         .get = figure_cell},
	        {"kind", "kind", "kind", &unit_text, .argument = WAIT_WORD_KIND, .get = word_cell},
	        {"waiter", "waiter", "waiter", &unit_text, .argument = WAIT_WORD_WAITER,
	         .get = word_cell},
	        {"function", NULL, "function", &unit_text, .argument = WAIT_WORD_IN,
	         .get = word_cell},
	        {"name", "for", "name", &unit_text, .argument = WAIT_WORD_NAME, .get = word_cell},
	        {"device", NULL, "device", &unit_text, .argument = WAIT_WORD_DEVICE,
	         .get = word_cell},
	        {"released_by", "released by", "released_by", &unit_text, .argument = WAIT_WORD_BY,
	         .get = word_cell},
	        {"holder", "holder", "holder", &unit_text, .argument = WAIT_WORD_HOLDER, .room = 90,
	         .get = word_cell},
	        {"evidence", "evidence", "evidence", &unit_text, .argument = WAIT_WORD_EVIDENCE,
	         .room = 120, .get = word_cell},
	        {"histogram", NULL, "histogram", &unit_count, .json = histogram_json},
	};

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
}

static void list_free(void *model)
{
	struct wait_row_list *l = model;

	vec_done(&l->rows);
	free(l);
}

struct row_set *wait_rows(struct wait_report *r)
{
	static const char *const by[] = {"waited", "kind", "name"};
	const struct report_request *q = &r->options->request;
	struct wait_row_list *l = xcalloc(1, sizeof(*l));
	struct row_source *s = row_source_new(l);
	column_names order = request_order(q, by, sizeof(by) / sizeof(*by));
	struct row_request request = {.by = order.items,
	                              .by_count = order.count,
	                              .limit = request_limit(q, &q->reader),
	                              .lines = q->lines};
	struct row_set *rows;

	l->report = r;
	for (uint32_t i = 0; i < r->rows.count; i++)
		if (r->rows.items[i].count || r->rows.items[i].blocked_ns ||
		    r->rows.items[i].runnable_ns)
			vec_push(&l->rows, i);
	s->rows = (uint32_t)l->rows.count;
	s->free = list_free;
	s->squeezed = true;
	add_columns(s, r);
	rows = row_set_new(s, &request);
	vec_done(&order);
	return rows;
}
