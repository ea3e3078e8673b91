/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table: columns of text that line up.
 *
 * Name the columns, add cells row by row, print once. A column is as wide as its widest cell. The
 * last column is cut at the terminal's width; in a `squeezed` table the widest text columns are
 * cut; bars get shorter, so that the last column has room; in a pipe (width 0) nothing is cut.
 * Characters that would move a terminal's cursor are escaped in cells (base/text/plain_text.h).
 * table_init() / table_done(). Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_OUTPUT_TEXT_TABLE_H
#define ASSAY_OUTPUT_TEXT_TABLE_H

#include "base/memory/buf.h"
#include "base/memory/vec.h"
#include "base/text/figure.h"

#include <stdbool.h>
#include <stdint.h>

/* The style of text output; the command sets it from the terminal and the options. */
struct text_style {
	bool colour;
	bool bars;      /* stars beside shares */
	bool chart;     /* a bar for each row of each sorted table */
	unsigned width; /* columns of the terminal, 0: no limit */
};

/* TABLE_PATH: left; a call path "a > b > c" that is too long loses names in its middle. */
enum table_align { TABLE_LEFT, TABLE_RIGHT, TABLE_BAR, TABLE_PATH };
enum table_kind { TABLE_ROW, TABLE_WARM, TABLE_HOT, TABLE_REST, TABLE_TOTAL };

struct table_column {
	const char *title;
	enum table_align align;
};

struct table {
	const struct text_style *style;
	bool squeezed; /* set it after table_init() */
	VEC(struct table_column) columns;
	struct buf texts; /* texts of the cells, each with a terminating 0 */
	VEC(struct table_cell {
		size_t at;    /* in `texts` */
		size_t width; /* on the screen */
	})
	cells;
	VEC(enum table_kind) kinds; /* per row */
	VEC(size_t)
	widths; /* widths of the rows that table_flush() printed; empty: none
	         * yet */
};

void table_init(struct table *t, const struct text_style *style);
void table_done(struct table *t);

/* Titles are not copied. A column of bars is omitted if the style has no bars. */
void table_column(struct table *t, const char *title, enum table_align align);
void table_row(struct table *t, enum table_kind kind);
void table_text(struct table *t, const char *text);
void table_bar(struct table *t, double share);
void table_print(const struct table *t, struct buf *out);
/*
 * Prints the rows so far and frees them, for tables larger than memory. The columns keep their
 * widths, and grow if later rows need more.
 */
void table_flush(struct table *t, struct buf *out);

/* Appends one field, with terminal control characters escaped (base/text/plain_text.h). */
void text_clean(struct buf *out, const char *text);
/* Appends an empty line and a heading, bold on a terminal. */
void text_heading(struct buf *out, const struct text_style *style, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* Appends text wrapped at the terminal's width (80 in a pipe); continued lines start at column
 * `indent`. */
void text_fill(struct buf *out, const struct text_style *style, const char *first, size_t indent,
               const char *text);

#endif
