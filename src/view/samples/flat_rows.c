/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The groups of a sampled profile as rows of a table. */
#include "view/samples/document/report_document.h"

#include "view/samples/flat_cell.h"
#include "view/samples/sample_without.h"

#include <stddef.h>

#define LEAST 2 /* samples */
#define ROOM_WIDE 100

static const struct flat *flat_of(const struct row_source *s)
{
	return s->model;
}

/* The argument of the column is the offset of a count in struct flat_row. */
static struct cell count_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const char *r = (const char *)&flat_of(s)->rows.items[row];

	return cell_int((int64_t) * (const uint64_t *)(const void *)(r + c->argument));
}

/* The argument of the column is the offset of a real number in struct flat_row. */
static struct cell real_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const char *r = (const char *)&flat_of(s)->rows.items[row];

	return cell_real(*(const double *)(const void *)(r + c->argument));
}

static struct cell waits_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const struct flat_row *r = &flat_of(s)->rows.items[row];

	return cell_int((int64_t)(r->runnable_ns + r->blocked_ns));
}

static struct cell without_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	const struct flat_row *r = &flat_of(s)->rows.items[row];

	return cell_int((int64_t)(flat_of(s)->base_weight ? r->weight - r->removed_weight
	                                                  : r->samples - r->removed_samples));
}

static struct cell total_without_cell(const struct row_source *s, const struct column *c,
                                      uint32_t row, struct buf *text)
{
	const struct flat_row *r = &flat_of(s)->rows.items[row];

	return cell_int((int64_t)(flat_of(s)->base_weight
	                                  ? r->total_weight - r->removed_total_weight
	                                  : r->total_samples - r->removed_total_samples));
}

/* Numbers are sorted largest first. */
static struct cell first_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	return cell_int(-(int64_t)flat_of(s)->rows.items[row].example);
}

static struct cell key_cell(const struct row_source *s, const struct column *c, uint32_t row,
                            struct buf *text)
{
	const struct flat *f = flat_of(s);

	flat_cell(f, &f->rows.items[row], (enum flat_key)c->argument, s->brief, text);
	return cell_text(buf_text(text));
}

/* Keys with a number of their own beside the text, or instead of it. */
static void key_json(const struct row_source *s, const struct column *c, uint32_t row,
                     struct json *j)
{
	const struct flat *f = flat_of(s);
	const struct profile *p = f->view->profile;
	const struct flat_row *r = &f->rows.items[row];
	const struct profile_row *example = &p->rows.items[r->example];
	const struct thread *thread = process_table_thread_at(p->processes, example->thread);
	const struct process *process = process_table_process(p->processes, thread->process);
	uint32_t counted = view_counted_process(f->view, example);
	bool none = counted == ID_NONE;

	switch ((enum flat_key)c->argument) {
	case FLAT_CPU:
		json_key(j, "cpu");
		if (example->cpu == PROFILE_CPU_UNKNOWN)
			json_null(j);
		else
			json_u64(j, example->cpu);
		return;
	case FLAT_INSTANCE:
		json_ku64(j, "instance", none ? 1 : process->instance);
		json_ki64(j, "pid", none ? -1 : process->pid);
		if (!flat_has_key(f, FLAT_PROCESS))
			json_kstr(j, "process", view_process_name(f->view, counted));
		return;
	case FLAT_THREAD:
		json_kstr(j, "thread",
		          none ? VIEW_INTERRUPTS : process_table_name(p->processes, thread->name));
		json_ki64(j, "tid", none ? -1 : thread->tid);
		return;
	default:
		json_key(j, "address");
		unit_json_add(&unit_hex, cell_int((int64_t)flat_address(f, r)), j);
		json_key(j, "offset");
		unit_json_add(&unit_hex, cell_int((int64_t)flat_offset(f, r)), j);
	}
}

static struct cell all_cell(const struct row_source *s, const struct column *c)
{
	return c->role == ROLE_RATIO ? cell_none() : c->base;
}

/* A row with long waits is shown even if it has no samples. Time without a sample comes from switch
 * records, so it is not a chance hit. */
static bool is_worth(const struct row_source *s, uint32_t row, double limit)
{
	const struct flat *f = flat_of(s);
	const struct flat_row *r = &f->rows.items[row];
	uint64_t all = f->runnable_ns + f->blocked_ns, waits = r->runnable_ns + r->blocked_ns;
	bool enough = r->total_samples >= f->least || (!r->total_samples && r->total_weight);

	return (flat_share(f, r->total_weight, r->total_samples) >= limit && enough) ||
	       (all && waits && (double)waits >= limit * (double)all);
}

/* A figure of a row: a column without a title is not in text, and a column without a key is not in
 * JSON. */
static void add_figure(struct row_source *s, const char *name, const char *title, const char *key,
                       const struct unit *unit, enum column_role role, column_get *get,
                       size_t argument)
{
	vec_push(&s->columns, (struct column){.name = name,
	                                      .title = title,
	                                      .key = key,
	                                      .unit = unit,
	                                      .role = role,
	                                      .argument = (uint32_t)argument,
	                                      .get = get});
}

/* `at`: the offset of the count in struct flat_row; `all`: the value of the whole selection. */
static void add_count(struct row_source *s, const char *name, const char *title, const char *key,
                      const struct unit *unit, enum column_role role, size_t at, uint64_t all)
{
	add_figure(s, name, title, key, unit, role, count_cell, at);
	vec_last(&s->columns)->base = cell_int((int64_t)all);
}

static void add_share(struct row_source *s, const char *name, const char *title, const char *of,
                      bool bar)
{
	const struct flat *f = flat_of(s);
	uint64_t base = f->base_weight ? f->base_weight : f->base_samples;

	vec_push(&s->columns, (struct column){.name = name,
	                                      .title = title,
	                                      .key = name,
	                                      .unit = &unit_share,
	                                      .role = ROLE_RATIO,
	                                      .of = of,
	                                      .base = cell_int((int64_t)base),
	                                      .bar = bar});
}

static struct cell removed_cell(const struct row_source *s, const struct column *c)
{
	const struct without *w = sample_without_sums(flat_of(s)->request.without);

	return c->get == without_cell ? cell_int(w->removed) : cell_none();
}

static void add_normalised(struct row_source *s, const char *name, const char *title,
                           const char *of)
{
	add_share(s, name, title, of, false);
	vec_last(&s->columns)->base =
	        without_base(sample_without_sums(flat_of(s)->request.without));
}

/* The value without the removed functions, and its share of the remainder. */
static void add_without(struct row_source *s)
{
	const struct flat *f = flat_of(s);
	const struct unit *unit = sample_without_unit(f->request.without);
	bool children = f->request.children;

	if (children) {
		add_figure(s, "total_without", "total without", "total_without", unit, ROLE_TOTAL,
		           total_without_cell, 0);
		add_normalised(s, "total_normalised", "normalised", "total_without");
	}
	add_figure(s, "without", "without", "without", unit, ROLE_SUM, without_cell, 0);
	vec_last(&s->columns)->base = without_base(sample_without_sums(f->request.without));
	vec_last(&s->columns)->room = children ? ROOM_WIDE : 0;
	add_normalised(s, "normalised", children ? NULL : "normalised", "without");
	s->removed = removed_cell;
}

static void add_figures(struct row_source *s, const struct report *r, bool wide)
{
	const struct flat *f = flat_of(s);
	const struct profile_event *e = report_event(r);
	bool children = f->request.children, timed = e && e->period_ns && f->has_waits;
	enum column_role waits = children ? ROLE_TOTAL : ROLE_SUM;

	if (children)
		add_share(s, "total_share", f->request.without ? "total as is" : "total",
		          f->base_weight ? "total_weight" : "total_samples", true);
	add_share(s, "share",
	          children             ? "self"
	          : f->request.without ? "as is"
	                               : "share",
	          f->base_weight ? "weight" : "samples", !children);
	if (f->request.without)
		add_without(s);
	add_figure(s, "low", wide ? "low" : NULL, "low", &unit_share, ROLE_KEY, real_cell,
	           offsetof(struct flat_row, low));
	add_figure(s, "high", wide ? "high" : NULL, "high", &unit_share, ROLE_KEY, real_cell,
	           offsetof(struct flat_row, high));
	add_count(s, "samples", "samples", "samples", &unit_count, ROLE_SUM,
	          offsetof(struct flat_row, samples), f->base_samples);
	add_count(s, "weight", timed ? "on CPU" : NULL, "weight", &unit_time, ROLE_SUM,
	          offsetof(struct flat_row, weight), f->base_weight);
	add_figure(s, "total_samples", NULL, children ? "total_samples" : NULL, &unit_count,
	           ROLE_TOTAL, count_cell, offsetof(struct flat_row, total_samples));
	add_figure(s, "total_weight", NULL, NULL, &unit_count, ROLE_TOTAL, count_cell,
	           offsetof(struct flat_row, total_weight));
	add_figure(s, "waits", NULL, NULL, &unit_time, ROLE_KEY, waits_cell, 0);
	add_figure(s, "first", NULL, NULL, &unit_number, ROLE_KEY, first_cell, 0);
	if (!f->has_waits)
		return;
	add_count(s, "runnable", "runnable", "runnable_ns", &unit_time, waits,
	          offsetof(struct flat_row, runnable_ns), f->runnable_ns);
	add_count(s, "blocked", "blocked", "blocked_ns", &unit_time, waits,
	          offsetof(struct flat_row, blocked_ns), f->blocked_ns);
}

static bool is_wide_key(enum flat_key key)
{
	return key == FLAT_FUNCTION || key == FLAT_LINE;
}

/* The keys in the requested order, but the widest key last, so that no column follows it. */
static void add_keys(struct row_source *s)
{
	static const struct unit cpu = {.name = "text", .text = NULL};
	const struct flat_request *q = &flat_of(s)->request;

	for (size_t i = 0; i < 2 * q->key_count; i++) {
		enum flat_key key = q->keys[i % q->key_count];
		bool several = key == FLAT_CPU || key == FLAT_INSTANCE || key == FLAT_THREAD ||
		               key == FLAT_ADDRESS;

		const char *name = flat_key_name(key), *title = name;

		if (flat_key_is_label(key))
			name = title = q->labels[key - FLAT_LABEL];
		if (flat_key_is_field(key)) {
			const struct sample_fields *f = &flat_of(s)->view->profile->fields;

			name = f->labels.items[key - FLAT_FIELD];
			title = sample_fields_name(f, key - FLAT_FIELD);
		}
		if (is_wide_key(key) == (i >= q->key_count))
			vec_push(&s->columns,
			         (struct column){.name = name,
			                         .title = title,
			                         .key = name,
			                         .unit = key == FLAT_CPU ? &cpu : &unit_text,
			                         .argument = key,
			                         .get = key_cell,
			                         .json = several ? key_json : NULL});
	}
}

static uint64_t most_samples(const struct flat *f)
{
	uint64_t most = 0;

	vec_each (row, &f->rows)
		most = row->total_samples > most ? row->total_samples : most;
	return most;
}

struct row_set *flat_rows(struct flat *f, const struct report *r,
                          const struct document_reader *reader)
{
	static const char *const by[] = {"total_without", "without", "total_weight", "weight",
	                                 "total_samples", "waits",   "first"};
	struct row_source *s = row_source_new(f);
	column_names order = request_order(&r->options, by, sizeof(by) / sizeof(*by));
	struct row_request q = {
	        .by = order.items,
	        .by_count = order.count,
	        .limit = request_limit(&r->options, reader),
	        .named = request_names_rows(&r->options, f->request.keys, f->request.key_count),
	        .lines = r->options.lines};
	struct row_set *rows;

	/* Readers who gave no limit get rows with a single sample as a part of the rest, unless no
	 * row has more. */
	f->least = r->options.least;
	if (!reader->program && r->options.limit < 0 && !r->options.key_count && !f->least)
		f->least = LEAST;
	if (most_samples(f) < f->least)
		f->least = 0;
	s->rows = (uint32_t)f->rows.count;
	s->brief = !reader->wide && !reader->program;
	s->all = all_cell;
	s->worth = is_worth;
	add_figures(s, r, reader->wide || reader->intervals);
	add_keys(s);
	rows = row_set_new(s, &q);
	vec_done(&order);
	for (size_t i = rows->shown; i < rows->order.count; i++) {
		const struct flat_row *row = &f->rows.items[rows->order.items[i]];

		if (flat_share(f, row->total_weight, row->total_samples) >= q.limit)
			s->rest_reason = " or one sample";
	}
	return rows;
}
