/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/table_view.h"

#include "base/memory/hash.h"
#include "base/text/display_width.h"

#include <string.h>

#define GAP 2
#define NARROWEST 10 /* of a text column */
#define LAST_ROOM 24 /* of the last column, if numbers can be left out */

void table_view_text(const struct row_source *s, const struct column *column, uint32_t row,
                     struct buf *out)
{
	struct buf scratch = {0};
	struct cell cell = row_cell(s, column, row, &scratch);

	if (!column->blank_zero || !cell_is_zero(cell))
		unit_text_add(column->unit, cell, out);
	buf_done(&scratch);
}

/* The texts of the key columns: they identify the row in the table of a second later. */
static void add_key(const struct row_source *s, uint32_t row, struct buf *out)
{
	vec_each (column, &s->columns) {
		if (column->unit != &unit_text || column->role != ROLE_KEY || !column->get)
			continue;
		table_view_text(s, column, row, out);
		buf_putc(out, '\n');
	}
}

/* Without a selection the first row stays selected, whatever it is. */
static void remember_selected(struct table_view *v)
{
	uint32_t row = table_view_row(v);
	struct buf key = {0};

	free(v->selected);
	v->selected = NULL;
	if (row == ID_NONE || !v->scroll.at)
		return;
	add_key(v->rows->source, row, &key);
	v->selected = xstrdup(buf_text(&key));
	buf_done(&key);
}

static void find_selected(struct table_view *v)
{
	struct buf key = {0};

	for (size_t i = 0; v->selected && i < v->order.count; i++) {
		buf_clear(&key);
		add_key(v->rows->source, v->order.items[i], &key);
		if (strcmp(buf_text(&key), v->selected) != 0)
			continue;
		v->scroll.at = i;
		break;
	}
	buf_done(&key);
}

static bool matches(const struct table_view *v, uint32_t row, struct buf *text)
{
	if (!v->filter.text)
		return true;
	buf_clear(text);
	vec_each (column, &v->rows->source->columns) {
		if (!column_is_for(column, MEDIA_READERS))
			continue;
		table_view_text(v->rows->source, column, row, text);
		buf_putc(text, ' ');
	}
	return line_filter_has(&v->filter, buf_text(text));
}

const struct column *table_view_sorted_by(const struct table_view *v)
{
	const struct column *by =
	        v->rows && v->sort ? column_sorted_by(v->rows->source, v->sort) : NULL;

	return by ? by : v->rows ? v->rows->by : NULL;
}

static void sort_rows(struct table_view *v)
{
	const char *name = v->sort;
	struct row_order order;

	if (!name || v->rows->source->fixed || !column_sorted_by(v->rows->source, name))
		return;
	row_order_init(&order, v->rows->source, &name, 1, 1);
	if (v->order.count)
		qsort_r(v->order.items, v->order.count, sizeof(*v->order.items), row_order_compare,
		        &order);
	row_order_done(&order);
}

/* Makes the list of rows again, and keeps the selected one. */
static void list_rows(struct table_view *v)
{
	struct buf text = {0};

	v->order.count = 0;
	vec_each (row, &v->rows->order)
		if (matches(v, *row, &text))
			vec_push(&v->order, *row);
	buf_done(&text);
	sort_rows(v);
	find_selected(v);
	scroll_fit(&v->scroll, v->order.count, v->scroll.page);
}

void table_view_show(struct table_view *v, const struct row_set *rows)
{
	v->rows = rows;
	list_rows(v);
}

void table_view_done(struct table_view *v)
{
	line_filter_done(&v->filter);
	vec_done(&v->order);
	vec_done(&v->widths);
	free(v->sort);
	free(v->selected);
	*v = (struct table_view){0};
}

int table_view_filter(struct table_view *v, const char *text, struct error *err)
{
	int status = line_filter_set(&v->filter, text, err);

	if (!status)
		list_rows(v);
	return status;
}

static bool can_sort(const struct table_view *v, const struct column *c)
{
	return column_is_for(c, MEDIA_READERS) && c->name &&
	       column_sorted_by(v->rows->source, c->name);
}

void table_view_sort(struct table_view *v, int step)
{
	const struct row_source *s = v->rows->source;
	const struct column *now = table_view_sorted_by(v), *first = s->columns.items;
	size_t count = s->columns.count, at = now ? (size_t)(now - first) : 0;

	for (size_t i = 0; i < count && !s->fixed; i++) {
		at = (at + (step > 0 ? 1 : count - 1)) % count;
		if (!can_sort(v, &first[at]))
			continue;
		free(v->sort);
		v->sort = xstrdup(first[at].name);
		break;
	}
	list_rows(v);
}

void table_view_move(struct table_view *v, long lines)
{
	scroll_by(&v->scroll, lines);
	remember_selected(v);
}

void table_view_go(struct table_view *v, size_t line)
{
	scroll_to(&v->scroll, line);
	remember_selected(v);
}

void table_view_skip(struct table_view *v, int columns)
{
	if (columns < 0)
		v->skipped = v->skipped > (unsigned)-columns ? v->skipped - (unsigned)-columns : 0;
	else
		v->skipped += (unsigned)columns;
}

uint32_t table_view_row(const struct table_view *v)
{
	return v->scroll.at < v->order.count ? v->order.items[v->scroll.at] : ID_NONE;
}

/* ---- layout -------------------------------------------------------------- */

static unsigned total_width(const struct table_view_layout *l, unsigned last)
{
	unsigned all = 0;

	vec_each (c, &l->columns)
		all += c == vec_last(&l->columns)
		               ? last
		               : l->widths.items[*c - l->source->columns.items] + GAP;
	return all;
}

/* Takes width from the widest text column; false: there is none to take from. */
static bool narrow(struct table_view_layout *l)
{
	unsigned *widest = NULL;

	vec_each (c, &l->columns) {
		unsigned *width = &l->widths.items[*c - l->source->columns.items];

		if (c != vec_last(&l->columns) && (*c)->unit->left && *width > NARROWEST &&
		    (!widest || *width > *widest))
			widest = width;
	}
	if (widest)
		--*widest;
	return widest != NULL;
}

/* Leaves out the last column of numbers, but not the first; false: there is none. */
static bool leave_out(struct table_view_layout *l)
{
	table_view_columns *columns = &l->columns;
	size_t found = 0;

	for (size_t i = 1; i + 1 < columns->count; i++)
		if (!columns->items[i]->unit->left && columns->items[i] != l->sorted)
			found = i;
	if (!found)
		return false;
	columns->count--;
	memmove(columns->items + found, columns->items + found + 1,
	        (columns->count - found) * sizeof(*columns->items));
	return true;
}

static void fit(struct table_view_layout *l, unsigned width, unsigned last)
{
	vec_each (c, &l->source->columns)
		if (column_is_for(c, MEDIA_READERS) && (c->room <= width || c == l->sorted))
			vec_push(&l->columns, c);
	while (l->columns.count && total_width(l, last) > width)
		if (!narrow(l) && !leave_out(l))
			break;
}

static void draw_titles(const struct table_view_layout *l, struct canvas *c, unsigned line)
{
	canvas_over(c, line, CANVAS_HEADER);
	vec_each (column, &l->columns) {
		bool last = column == vec_last(&l->columns);
		unsigned width =
		        last ? c->width : l->widths.items[*column - l->source->columns.items];
		enum canvas_style style = *column == l->sorted ? CANVAS_BOLD : CANVAS_HEADER;
		unsigned from = line < c->height ? c->lines[line].used : 0;

		if ((*column)->unit->left || last)
			canvas_add(c, line, style, (*column)->title, width);
		else
			canvas_add_right(c, line, style, (*column)->title, width);
		if (*column == l->sorted)
			canvas_add(c, line, style, "v", 1);
		if (!last)
			canvas_move(c, line, from + width + GAP);
	}
}

void table_view_lay_out(struct table_view_layout *l, const table_view_widths *widest, unsigned last,
                        struct canvas *c, unsigned line)
{
	vec_each (width, widest)
		vec_push(&l->widths, *width);
	fit(l, c->width, last);
	draw_titles(l, c, line);
}

void table_view_layout_done(struct table_view_layout *l)
{
	vec_done(&l->columns);
	vec_done(&l->widths);
}

/* Widens the columns for the rows on the screen. */
static void measure(struct table_view *v)
{
	const struct row_source *s = v->rows->source;
	const struct scroll *at = &v->scroll;
	struct buf text = {0}, plain = {0};

	while (v->widths.count < s->columns.count)
		vec_push(&v->widths, 0);
	for (size_t c = 0; c < s->columns.count; c++) {
		const struct column *column = &s->columns.items[c];
		unsigned *width = &v->widths.items[c];

		if (!column_is_for(column, MEDIA_READERS))
			continue;
		for (size_t i = at->top; i <= at->top + at->page && i < v->order.count + 1; i++) {
			buf_clear(&text);
			buf_clear(&plain);
			if (i < v->order.count)
				table_view_text(s, column, v->order.items[i], &text);
			else
				buf_puts(&text, column->title);
			canvas_clean(&plain, buf_text(&text));
			if (display_width(buf_text(&plain)) > *width)
				*width = (unsigned)display_width(buf_text(&plain));
		}
		if (display_width(column->title) > *width)
			*width = (unsigned)display_width(column->title);
	}
	buf_done(&text);
	buf_done(&plain);
}

void table_view_cells(const struct table_view_layout *l, uint32_t row, struct canvas *c,
                      unsigned line, enum canvas_style style)
{
	struct buf text = {0};

	vec_each (column, &l->columns) {
		unsigned width = l->widths.items[*column - l->source->columns.items];
		unsigned from = line < c->height ? c->lines[line].used : 0;

		if (column == vec_last(&l->columns))
			break;
		buf_clear(&text);
		table_view_text(l->source, *column, row, &text);
		if ((*column)->unit->left)
			canvas_add(c, line, style, buf_text(&text), width);
		else
			canvas_add_right(c, line, style, buf_text(&text), width);
		canvas_move(c, line, from + width + GAP);
	}
	buf_done(&text);
}

/* The last column, without the columns that are left of the screen. */
static void draw_last(const struct table_view *v, const struct column *column, uint32_t row,
                      struct canvas *c, unsigned line, enum canvas_style style)
{
	struct buf text = {0};
	size_t used, at;

	table_view_text(v->rows->source, column, row, &text);
	at = display_fit(buf_text(&text), v->skipped, &used);
	if (column->unit->left)
		canvas_add(c, line, style, buf_text(&text) + at, c->width);
	else
		canvas_add(c, line, style, buf_text(&text), c->width);
	buf_done(&text);
}

static enum canvas_style style_of(const struct row_source *s, uint32_t row)
{
	static const enum canvas_style styles[] = {[ROW_ITEM] = CANVAS_PLAIN,
	                                           [ROW_WARM] = CANVAS_WARM,
	                                           [ROW_HOT] = CANVAS_HOT,
	                                           [ROW_PART] = CANVAS_DIM,
	                                           [ROW_TOTAL] = CANVAS_BOLD};

	return styles[row_kind_of(s, row)];
}

void table_view_draw(struct table_view *v, struct canvas *c, unsigned line, unsigned lines)
{
	struct table_view_layout layout = {.source = v->rows->source,
	                                   .sorted = table_view_sorted_by(v)};

	scroll_fit(&v->scroll, v->order.count, lines > 1 ? lines - 1 : 1);
	measure(v);
	table_view_lay_out(&layout, &v->widths, LAST_ROOM, c, line);
	scroll_each(at, &v->scroll)
	{
		unsigned y = line + 1 + (unsigned)(at - v->scroll.top);
		uint32_t row = v->order.items[at];

		if (!layout.columns.count)
			break;
		table_view_cells(&layout, row, c, y, style_of(layout.source, row));
		draw_last(v, *vec_last(&layout.columns), row, c, y, style_of(layout.source, row));
		if (at == v->scroll.at)
			canvas_over(c, y, CANVAS_SELECTED);
	}
	if (!v->order.count)
		canvas_add(c, line + 1, CANVAS_DIM,
		           v->filter.text ? "no line matches the filter" : "nothing yet", c->width);
	table_view_layout_done(&layout);
}
