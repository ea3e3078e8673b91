/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/rows/rows.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <string.h>

struct row_source *row_source_new(void *model)
{
	struct row_source *s = xcalloc(1, sizeof(*s));

	s->model = model;
	return s;
}

void row_source_columns(struct row_source *s, const struct column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vec_push(&s->columns, columns[i]);
}

void row_source_free(struct row_source *s)
{
	if (!s)
		return;
	if (s->free)
		s->free(s->model);
	vec_done(&s->columns);
	free(s);
}

const struct column *column_named(const struct row_source *s, const char *name)
{
	vec_each (c, &s->columns)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

const struct column *column_sorted_by(const struct row_source *s, const char *name)
{
	const struct column *c = column_named(s, name);

	return c && !s->fixed && (c->get || c->role == ROLE_RATIO) ? c : NULL;
}

enum row_kind row_kind_of(const struct row_source *s, uint32_t row)
{
	return s->row_kind ? s->row_kind(s, row) : ROW_ITEM;
}

bool column_is_for(const struct column *c, enum media media)
{
	bool has = media == MEDIA_PROGRAMS ? c->key || c->json : c->title != NULL;

	return has && (!c->media || c->media & media);
}

static size_t index_of(const struct row_source *s, const char *name)
{
	return (size_t)(column_named(s, name) - s->columns.items);
}

struct cell row_cell(const struct row_source *s, const struct column *c, uint32_t row,
                     struct buf *text)
{
	struct cell part, whole;

	if (c->get) {
		buf_clear(text);
		return c->get(s, c, row, text);
	}
	part = row_cell(s, column_named(s, c->of), row, text);
	whole = c->per ? row_cell(s, column_named(s, c->per), row, text) : c->base;
	if (part.kind == CELL_NONE || (c->per && cell_is_zero(whole)))
		return cell_none();
	return cell_real(cell_ratio(part, whole));
}

struct cell *row_cells(const struct row_source *s, const struct column *c)
{
	struct cell *cells = xcalloc((size_t)s->rows + 1, sizeof(*cells));
	struct buf text = {0};

	for (uint32_t row = 0; row < s->rows; row++)
		cells[row] = row_cell(s, c, row, &text);
	buf_done(&text);
	return cells;
}

/* Adds a row to the sums of all columns. */
static void add_row(const struct row_source *s, struct cell *sums, uint32_t row, struct buf *text)
{
	for (size_t i = 0; i < s->columns.count; i++) {
		const struct column *c = &s->columns.items[i];
		struct cell cell;

		if (c->role != ROLE_SUM && c->role != ROLE_LEAST && c->role != ROLE_MOST)
			continue;
		cell = row_cell(s, c, row, text);
		if (c->role == ROLE_SUM)
			sums[i] = cell_add(sums[i], cell);
		else if (cell.kind == CELL_NONE || isnan(cell_number(cell)))
			continue;
		else if (sums[i].kind == CELL_NONE ||
		         (c->role == ROLE_MOST) == (cell_compare(cell, sums[i]) > 0))
			sums[i] = cell;
	}
}

/* Fills the ratios of a line of sums. */
static void add_ratios(const struct row_source *s, struct cell *sums)
{
	for (size_t i = 0; i < s->columns.count; i++) {
		const struct column *c = &s->columns.items[i];
		struct cell part, whole;

		if (c->role != ROLE_RATIO)
			continue;
		part = sums[index_of(s, c->of)];
		whole = c->per ? sums[index_of(s, c->per)] : c->base;
		if (part.kind != CELL_NONE && !(c->per && cell_is_zero(whole)))
			sums[i] = cell_real(cell_ratio(part, whole));
	}
}

void row_order_init(struct row_order *o, const struct row_source *s, const char *const *by,
                    size_t count, size_t cached)
{
	*o = (struct row_order){.source = s};
	o->columns = xcalloc(count + 1, sizeof(*o->columns));
	for (size_t i = 0; i < count; i++) {
		const struct column *c = column_sorted_by(s, by[i]);

		if (!c)
			continue;
		o->columns[o->count].column = c;
		o->columns[o->count].is_text = !strcmp(c->unit->name, unit_text.name);
		if (!o->columns[o->count].is_text && o->count < cached)
			o->columns[o->count].cells = row_cells(s, c);
		o->count++;
	}
}

void row_order_done(struct row_order *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->columns[i].cells);
	free(o->columns);
}

static int compare_by(const struct row_order *o, const struct row_order_column *c, uint32_t a,
                      uint32_t b)
{
	struct buf ta = {0}, tb = {0};
	int order;

	if (c->cells)
		return -cell_compare(c->cells[a], c->cells[b]);
	order = cell_compare(row_cell(o->source, c->column, a, &ta),
	                     row_cell(o->source, c->column, b, &tb));
	buf_done(&ta);
	buf_done(&tb);
	return c->is_text ? order : -order;
}

int row_order_compare(const void *pa, const void *pb, void *of)
{
	const struct row_order *o = of;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	for (size_t i = 0; i < o->count; i++) {
		int order = compare_by(o, &o->columns[i], a, b);

		if (order)
			return order;
	}
	return (a > b) - (a < b);
}

static void sort_rows(struct row_set *r, const struct row_request *q)
{
	struct row_order o;

	row_order_init(&o, r->source, q->by, q->by_count, 1);
	if (o.count && r->order.count)
		qsort_r(r->order.items, r->order.count, sizeof(*r->order.items), row_order_compare,
		        &o);
	if (o.count && !o.columns->is_text)
		r->by = o.columns->column;
	row_order_done(&o);
}

static bool is_worth_a_line(const struct row_source *s, uint32_t row, double limit,
                            struct buf *text)
{
	bool any = false;

	if (s->worth)
		return s->worth(s, row, limit);
	vec_each (c, &s->columns) {
		if (!c->cut)
			continue;
		any = true;
		if (fabs(cell_number(row_cell(s, c, row, text))) >= limit)
			return true;
	}
	return !any || limit <= 0;
}

/* Moves the rows that are not shown behind the others; both keep their order. */
static void cut_rows(struct row_set *r, const struct row_request *q)
{
	uint32_t *left = xcalloc(r->order.count + 1, sizeof(*left));
	struct buf text = {0};
	size_t count = 0;

	for (size_t i = 0; i < r->order.count; i++) {
		uint32_t row = r->order.items[i];
		bool full = q->lines && r->shown == q->lines;

		if (!full && (q->named || is_worth_a_line(r->source, row, q->limit, &text)))
			r->order.items[r->shown++] = row;
		else
			left[count++] = row;
	}
	for (size_t i = 0; i < count; i++) {
		r->order.items[r->shown + i] = left[i];
		add_row(r->source, r->rest, left[i], &text);
	}
	add_ratios(r->source, r->rest);
	free(left);
	buf_done(&text);
}

/* The total, and what the filters left out of it. */
static void sum_all(struct row_set *r, const struct row_request *q)
{
	const struct row_source *s = r->source;
	struct buf text = {0};

	for (uint32_t row = 0; row < s->rows; row++)
		add_row(s, r->total, row, &text);
	for (size_t i = 0; s->all && i < s->columns.count; i++) {
		const struct column *c = &s->columns.items[i];
		struct cell all;

		if (c->role != ROLE_SUM && c->role != ROLE_TOTAL)
			continue;
		all = s->all(s, c);
		if (all.kind == CELL_NONE)
			continue;
		if (c->role == ROLE_SUM) {
			r->unselected[i] = cell_subtract(all, r->total[i]);
			r->has_unselected |= !cell_is_zero(r->unselected[i]);
		}
		r->total[i] = all;
	}
	r->has_unselected &= !q->relative;
	add_ratios(s, r->total);
	add_ratios(s, r->unselected);
	buf_done(&text);
}

static void add_removed(struct row_set *r)
{
	const struct row_source *s = r->source;

	if (!s->removed)
		return;
	r->removed = xcalloc(s->columns.count + 1, sizeof(*r->removed));
	for (size_t i = 0; i < s->columns.count; i++) {
		if (s->columns.items[i].role != ROLE_SUM)
			continue;
		r->removed[i] = s->removed(s, &s->columns.items[i]);
		r->total[i] = cell_add(r->total[i], r->removed[i]);
	}
}

struct row_set *row_set_new(struct row_source *source, const struct row_request *q)
{
	struct row_set *r = xcalloc(1, sizeof(*r));
	size_t columns = source->columns.count + 1;

	r->source = source;
	r->limit = q->limit;
	r->by_lines = q->lines != 0;
	r->rest = xcalloc(columns, sizeof(*r->rest));
	r->unselected = xcalloc(columns, sizeof(*r->unselected));
	r->total = xcalloc(columns, sizeof(*r->total));
	for (size_t i = 0; i < source->columns.count; i++)
		if (source->columns.items[i].role == ROLE_SUM)
			r->rest[i] = r->total[i] = cell_int(0);
	vec_reserve(&r->order, (size_t)source->rows + 1);
	for (uint32_t row = 0; row < source->rows; row++)
		vec_push(&r->order, row);
	sum_all(r, q);
	add_removed(r);
	sort_rows(r, q);
	cut_rows(r, q);
	return r;
}

void row_set_cut(struct row_set *r, size_t lines)
{
	struct buf text = {0};

	if (r->shown <= lines)
		return;
	for (size_t i = lines; i < r->shown; i++)
		add_row(r->source, r->rest, r->order.items[i], &text);
	add_ratios(r->source, r->rest);
	r->shown = lines;
	r->by_lines = true;
	buf_done(&text);
}

void row_set_free(struct row_set *r)
{
	if (!r)
		return;
	row_source_free(r->source);
	vec_done(&r->order);
	free(r->rest);
	free(r->unselected);
	free(r->total);
	free(r->removed);
	free(r);
}

void row_set_rest_label(const struct row_set *r, struct buf *out)
{
	const char *reason = r->source->rest_reason;

	if (r->by_lines || r->limit <= 0)
		buf_addf(out, "[%zu more]", r->order.count - r->shown);
	else
		buf_addf(out, "[<%g%%%s: %zu more]", 100 * r->limit, reason ? reason : "",
		         r->order.count - r->shown);
	if (r->source->rest_more)
		r->source->rest_more(r->source, r->rest, out);
}
