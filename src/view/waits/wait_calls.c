/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_calls.h"

#include "view/waits/wait_document.h"

#include <stdlib.h>
#include <string.h>

void wait_calls_init(struct wait_calls *c, struct wait_report *r)
{
	*c = (struct wait_calls){.report = r};
	intern_init(&c->texts);
}

void wait_calls_done(struct wait_calls *c)
{
	vec_done(&c->rows);
	id_table_done(&c->index);
	intern_done(&c->texts);
}

static bool same_row(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_call_row *a = &((const struct wait_calls *)ctx)->rows.items[id], *b = key;

	return a->function == b->function && a->row == b->row;
}

void wait_calls_add(struct wait_calls *c, const char *function, uint32_t sum, uint64_t count,
                    uint64_t blocked_ns, uint64_t runnable_ns)
{
	struct wait_call_row key = {.function = intern_add(&c->texts, function),
	                            .row = c->report->row_of[sum]};
	uint64_t hash = hash_pair(key.function, key.row);
	uint32_t id;

	/* Preempted threads do not wait for anything; reports on calls show their time apart. */
	if (key.row == ID_NONE || c->report->log->sums.items[sum].key.woken == WAIT_PREEMPTED)
		return;
	id = id_table_find(&c->index, hash, same_row, c, &key);
	if (id == ID_NONE) {
		id = (uint32_t)c->rows.count;
		vec_push(&c->rows, key);
		id_table_add(&c->index, hash, id);
	}
	c->rows.items[id].count += count;
	c->rows.items[id].blocked_ns += blocked_ns;
	c->rows.items[id].runnable_ns += runnable_ns;
	c->waited_ns += blocked_ns + runnable_ns;
	if (!strcmp(function, WAIT_CALLS_OUTSIDE) || !strcmp(function, WAIT_CALLS_NO_STACK))
		c->outside_ns += blocked_ns + runnable_ns;
}

void wait_calls_parts(const struct wait_calls *c, const struct wait *w, uint64_t *blocked_ns,
                      uint64_t *runnable_ns)
{
	*blocked_ns = wait_log_blocked_ns(c->report->log, w);
	*runnable_ns = w->in_ns - w->out_ns - *blocked_ns;
}

/* --- the table --- */

enum call_figure { FIGURE_COUNT, FIGURE_BLOCKED, FIGURE_RUNNABLE, FIGURE_WAITED };

static const struct wait_call_row *row_at(const struct row_source *s, uint32_t row)
{
	return &((const struct wait_calls *)s->model)->rows.items[row];
}

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct wait_call_row *r = row_at(s, row);

	switch ((enum call_figure)c->argument) {
	case FIGURE_COUNT:
		return cell_int((int64_t)r->count);
	case FIGURE_BLOCKED:
		return cell_int((int64_t)r->blocked_ns);
	case FIGURE_RUNNABLE:
		return cell_int((int64_t)r->runnable_ns);
	case FIGURE_WAITED:
		return cell_int((int64_t)(r->blocked_ns + r->runnable_ns));
	}
	return cell_none();
}

static struct cell function_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	const struct wait_calls *calls = s->model;

	return cell_text(intern_text(&calls->texts, row_at(s, row)->function));
}

static struct cell word_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct wait_report *report = ((const struct wait_calls *)s->model)->report;

	return wait_row_word(report, &report->rows.items[row_at(s, row)->row],
	                     (enum wait_word)c->argument);
}

static struct row_set *call_rows(struct wait_calls *c)
{
	static const char *const by[] = {"waited", "function", "kind", "name"};
	const struct report_request *q = &c->report->options->request;
	const struct column columns[] = {
	        {"share", "share", "share", &unit_share, ROLE_RATIO, .bar = true, .of = "waited",
	         .base = cell_int((int64_t)c->waited_ns), .cut = true},
	        {"waited", .unit = &unit_time, .role = ROLE_SUM, .argument = FIGURE_WAITED,
	         .get = figure_cell},
	        {"blocked", "blocked", "blocked_ns", &unit_time, ROLE_SUM,
	         .argument = FIGURE_BLOCKED, .get = figure_cell},
	        {"runnable", "runnable", "runnable_ns", &unit_time, ROLE_SUM,
	         .argument = FIGURE_RUNNABLE, .get = figure_cell, .blank_zero = true},
	        {"count", "waits", "count", &unit_count, ROLE_SUM, .argument = FIGURE_COUNT,
	         .get = figure_cell},
	        {"function", "in", "function", &unit_text, .get = function_cell},
	        {"kind", "kind", "kind", &unit_text, .argument = WAIT_WORD_KIND, .get = word_cell},
	        {"waiter", "thread", "waiter", &unit_text, .argument = WAIT_WORD_WAITER, .room = 90,
	         .get = word_cell},
	        {"name", "for", "name", &unit_text, .argument = WAIT_WORD_NAME, .get = word_cell},
	        {"released_by", "released by", "released_by", &unit_text, .argument = WAIT_WORD_BY,
	         .get = word_cell},
	        {"holder", NULL, "holder", &unit_text, .argument = WAIT_WORD_HOLDER,
	         .get = word_cell},
	        {"evidence", "evidence", "evidence", &unit_text, .argument = WAIT_WORD_EVIDENCE,
	         .room = 120, .get = word_cell},
	};
	struct row_source *s = row_source_new(c);
	struct row_request request = {
	        .by = by,
	        .by_count = sizeof(by) / sizeof(*by),
	        .limit = request_limit(q, &q->reader),
	        .lines = q->lines,
	};

	s->rows = (uint32_t)c->rows.count;
	s->squeezed = true;
	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	return row_set_new(s, &request);
}

/* --- the account --- */

/* Both files measured the waits in calls: the difference is printed. */
static void account(const struct wait_calls *c, struct document *d)
{
	static const struct grid_column columns[] = {
	        {"", &unit_text, false}, {"time", &unit_time, false}, {"share", &unit_share, true}};
	uint64_t in_calls = c->waited_ns - c->outside_ns;
	uint64_t whole = c->is_counted_known ? c->counted_ns : c->waited_ns;
	struct grid *g = grid_new(columns, sizeof(columns) / sizeof(*columns));

	wait_term(g, ROW_ITEM, "in calls", (int64_t)in_calls, whole);
	if (c->is_counted_known) {
		wait_term(g, ROW_ITEM, "residual", (int64_t)whole - (int64_t)in_calls, whole);
		wait_term(g, ROW_TOTAL, "in calls, as counted", (int64_t)whole, whole);
	} else {
		wait_term(g, ROW_ITEM, "outside of calls", (int64_t)c->outside_ns, whole);
		wait_term(g, ROW_TOTAL, "waiting", (int64_t)whole, whole);
	}
	document_grid(d, "Waits of the counted processes", "calls_account", g);
}

void wait_calls_document(struct wait_calls *c, struct document *d)
{
	struct section *s;

	if (c->report->options->request.reader.program) {
		document_known(d, "calls_counted_ns", (int64_t)c->counted_ns, c->is_counted_known);
		document_int(d, "calls_waited_ns", (int64_t)c->waited_ns);
		document_int(d, "calls_outside_ns", (int64_t)c->outside_ns);
		document_int(d, "calls_beyond", (int64_t)c->beyond);
	} else {
		account(c, d);
	}
	document_table(d, MEDIA_ALL, "Waits by call", "calls", call_rows(c));
	if (c->beyond) {
		s = document_notes(d, MEDIA_READERS, "Waits by call", NULL);
		section_note(s, "The recording has more waits than are kept with their times: the "
		                "later ones are in no call.");
	}
}
