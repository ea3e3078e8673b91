/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_view: a table of a document (view/rows/rows.h) on the screen: scrolled, filtered, sorted.
 *
 * A new struct is all zeros. table_view_show() takes another table, for example the same one a
 * second later: the selected row, the filter and the order are kept. The rows must outlive the next
 * table_view_show() or table_view_done(). The columns are those for readers. If they do not fit the
 * width, text columns get narrower and then the last columns with numbers are left out, except the
 * one that the rows are sorted by. No function fails. One thread. Uses: base, view, tui.
 */
#ifndef ASSAY_TUI_TABLE_VIEW_H
#define ASSAY_TUI_TABLE_VIEW_H

#include "tui/canvas.h"
#include "tui/line_filter.h"
#include "tui/scroll.h"
#include "view/rows/rows.h"

typedef VEC(uint32_t) table_view_rows;
typedef VEC(const struct column *) table_view_columns;
typedef VEC(unsigned) table_view_widths; /* by column of the source */

/* The columns on the screen. */
struct table_view_layout {
	const struct row_source *source;
	const struct column *sorted; /* has a mark, and is not left out; NULL: none */
	table_view_columns columns;
	table_view_widths widths;
};

struct table_view {
	const struct row_set *rows; /* NULL: none yet */
	struct line_filter filter;
	struct scroll scroll;
	table_view_rows order;    /* rows that match the filter, in the order on the screen */
	char *sort;               /* name of a column; NULL: the order of the table */
	char *selected;           /* key of the selected row; NULL: the first row, whatever it is */
	unsigned skipped;         /* columns of the last text that are left of the screen */
	table_view_widths widths; /* the widest texts so far */
};

void table_view_show(struct table_view *v, const struct row_set *rows);
void table_view_done(struct table_view *v);
/* -EINVAL: not an expression. */
int table_view_filter(struct table_view *v, const char *text, struct error *err);
/* Sorts by the next (+1) or the previous (-1) column. */
void table_view_sort(struct table_view *v, int step);
void table_view_move(struct table_view *v, long lines);
void table_view_go(struct table_view *v, size_t line);
void table_view_skip(struct table_view *v, int columns);
/* The selected row; ID_NONE: there is none. */
uint32_t table_view_row(const struct table_view *v);
/* The column by which the rows are sorted; NULL: their order has a meaning of its own. */
const struct column *table_view_sorted_by(const struct table_view *v);

/* Draws titles and rows on `lines` lines from `line` on. */
void table_view_draw(struct table_view *v, struct canvas *c, unsigned line, unsigned lines);

/* For tables and trees: finds the readers' columns that fit, from a layout with `source` and
 * `sorted`, and draws their titles. `last`: the least width of the last column. */
void table_view_lay_out(struct table_view_layout *l, const table_view_widths *widest, unsigned last,
                        struct canvas *c, unsigned line);
void table_view_layout_done(struct table_view_layout *l);
/* Draws the cells of a row, except the last column. */
void table_view_cells(const struct table_view_layout *l, uint32_t row, struct canvas *c,
                      unsigned line, enum canvas_style style);
/* Appends the text of a cell for readers. */
void table_view_text(const struct row_source *s, const struct column *column, uint32_t row,
                     struct buf *out);

#endif
