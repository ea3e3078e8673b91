/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sums of a symbolized profile as rows of a table. */
#include "view/symbolized/symbolized_document.h"

#include "base/memory/xalloc.h"
#include "view/symbolized/symbolized.h"

static const struct named_sum *sum_at(const struct row_source *s, uint32_t row)
{
	return &((const struct symbolized_sums *)s->model)->sums.items[row];
}

static struct cell self_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	return cell_int(sum_at(s, row)->self);
}

static struct cell total_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	return cell_int(sum_at(s, row)->total);
}

static struct cell value_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	return cell_int(sum_at(s, row)->values[c->argument]);
}

/* The value without the functions of --without; argument: callees are included. */
static struct cell without_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	const struct named_sum *sum = sum_at(s, row);

	return c->argument ? cell_int(named_subtract(sum->total, sum->total_removed))
	                   : cell_int(named_subtract(sum->self, sum->removed));
}

/* The other values of calls. */
static void add_call_values(struct row_source *s)
{
	static const struct column columns[] = {
	        {"calls", "calls", "calls", &unit_count, ROLE_SUM, .argument = NAMED_CALLS},
	        {"blocked", "blocked", "blocked_ns", &unit_time, ROLE_SUM,
	         .argument = NAMED_BLOCKED},
	        {"preempted", "preempted", "preempted_ns", &unit_time, ROLE_SUM,
	         .argument = NAMED_PREEMPTED},
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		vec_push(&s->columns, columns[i]);
		vec_last(&s->columns)->get = value_cell;
		vec_last(&s->columns)->blank_zero = true;
	}
}

/* Readers get names without directories, unless they want wide tables. */
static struct cell key_cell(const struct row_source *s, const struct column *c, uint32_t row,
                            struct buf *text)
{
	symbolized_sums_cell(s->model, sum_at(s, row), (enum flat_key)c->argument, s->brief, text);
	return cell_text(buf_text(text));
}

static void key_json(const struct row_source *s, const struct column *c, uint32_t row,
                     struct json *j)
{
	const struct symbolized_sums *sums = s->model;
	const struct named_sum *sum = sum_at(s, row);
	const struct symbolized_profile *n = sums->selection->n;
	const struct named_owner *o =
	        sum->owner == NAMED_NONE ? NULL : &n->owners.items[sum->owner];
	enum flat_key key = (enum flat_key)c->argument;
	struct buf text = {0};

	if (key == FLAT_THREAD) {
		json_kstr_or_null(j, "thread", intern_text(&n->texts, o->thread));
		json_ki64(j, "tid", o->tid);
		return;
	}
	if (key == FLAT_INSTANCE) {
		json_ki64(j, "pid", o->pid);
		key = FLAT_PROCESS;
	}
	symbolized_sums_cell(sums, sum, key, false, &text);
	json_kstr(j, flat_key_name(key), buf_text(&text));
	buf_done(&text);
}

static struct cell all_cell(const struct row_source *s, const struct column *c)
{
	const struct named_selection *of = ((const struct symbolized_sums *)s->model)->selection;
	int64_t sum = 0;

	if (c->get == self_cell)
		return cell_int(of->base);
	if (c->get == without_cell)
		return c->argument ? cell_none() : without_base(&of->without);
	if (c->get != value_cell || of->base != of->all)
		return cell_none();
	vec_each (row, &of->n->rows)
		sum = named_add(sum, row->values[c->argument]);
	return cell_int(sum);
}

static struct cell removed_cell(const struct row_source *s, const struct column *c)
{
	const struct symbolized_sums *sums = s->model;

	return c->get == without_cell ? cell_int(sums->selection->without.removed) : cell_none();
}

static void add_without(struct row_source *s, const struct unit *unit, bool children)
{
	const struct symbolized_sums *sums = s->model;
	struct cell base = without_base(&sums->selection->without);
	const struct column columns[] = {
	        {"total_without", "total without", "total_without", unit, ROLE_TOTAL, .argument = 1,
	         .get = without_cell},
	        {"total_normalised", "normalised", "total_normalised", &unit_share, ROLE_RATIO,
	         .of = "total_without", .base = base},
	        {"without", "without", "without", unit, ROLE_SUM, .room = children ? 100 : 0,
	         .get = without_cell},
	        {"normalised", children ? NULL : "normalised", "normalised", &unit_share,
	         ROLE_RATIO, .of = "without", .base = base},
	};

	row_source_columns(s, children ? columns : columns + 2, children ? 4 : 2);
	s->removed = removed_cell;
}

static void add_values(struct row_source *s, const struct symbolized_report *r)
{
	const struct symbolized_sums *sums = s->model;
	const struct unit *unit = &r->unit.unit;
	struct cell base = cell_int(sums->selection->base);
	const struct column self = {.name = r->calls ? "net" : "self",
	                            .title = r->calls ? "net" : "self",
	                            .key = r->calls ? "net_ns" : "self",
	                            .unit = unit,
	                            .role = ROLE_SUM,
	                            .get = self_cell};
	const struct column share = {.name = "share",
	                             .title = "",
	                             .key = "share",
	                             .unit = &unit_share,
	                             .role = ROLE_RATIO,
	                             .of = self.name,
	                             .base = base,
	                             .bar = !sums->children,
	                             .cut = !sums->children};
	const struct column total = {.name = "total",
	                             .title = "total",
	                             .key = r->calls ? "total_ns" : "total",
	                             .unit = unit,
	                             .role = ROLE_TOTAL,
	                             .get = total_cell};
	const struct column total_share = {.name = "total_share",
	                                   .title = "",
	                                   .key = "total_share",
	                                   .unit = &unit_share,
	                                   .role = ROLE_RATIO,
	                                   .of = "total",
	                                   .base = base,
	                                   .bar = sums->children,
	                                   .cut = sums->children};

	if (sums->has_totals && sums->children) {
		vec_push(&s->columns, total);
		vec_push(&s->columns, total_share);
	}
	vec_push(&s->columns, self);
	vec_push(&s->columns, share);
	if (sums->has_totals && !sums->children) {
		vec_push(&s->columns, total);
		vec_push(&s->columns, total_share);
	}
	if (sums->selection->removed)
		add_without(s, unit, sums->has_totals && sums->children);
}

struct row_set *symbolized_rows(struct symbolized_sums *sums, const struct symbolized_report *r,
                                const struct document_reader *reader)
{
	static const char *const by_total[] = {"total_without", "total", "self", "net"};
	static const char *const by_self[] = {"without", "self", "net", "total"};
	struct row_source *s = row_source_new(sums);
	struct row_set *rows;
	column_names order = request_order(&r->options, sums->children ? by_total : by_self, 4);
	struct row_request q = {
	        .by = order.items,
	        .by_count = order.count,
	        .limit = request_limit(&r->options, reader),
	        .named = request_names_rows(&r->options, sums->keys, sums->key_count),
	        .lines = r->options.lines,
	        .relative = r->options.filter.relative};

	s->rows = (uint32_t)sums->sums.count;
	s->brief = !reader->wide;
	s->all = all_cell;
	add_values(s, r);
	if (r->calls)
		add_call_values(s);
	for (size_t i = 0; i < sums->key_count; i++)
		vec_push(&s->columns, (struct column){.name = flat_key_name(sums->keys[i]),
		                                      .title = flat_key_name(sums->keys[i]),
		                                      .unit = &unit_text,
		                                      .argument = sums->keys[i],
		                                      .get = key_cell,
		                                      .json = key_json});
	rows = row_set_new(s, &q);
	vec_done(&order);
	return rows;
}
