/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid: a small table for readers whose cells are given one by one, such as a list of terms.
 *
 *	g = grid_new(columns, count);
 *	grid_row(g, ROW_ITEM);
 *	grid_add(g, cell_text("user"));
 *	grid_add(g, cell_int(ns));
 *	document_grid(d, "Where the time went", "ledger", g);
 *
 * Rows are printed in the order of the calls, without a line for the total. Missing cells are
 * empty. Texts are copied. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_DOCUMENT_GRID_H
#define ASSAY_VIEW_DOCUMENT_GRID_H

#include "view/document/document.h"

struct grid;

struct grid_column {
	const char *title;
	const struct unit *unit;
	bool bar;
};

struct grid *grid_new(const struct grid_column *columns, size_t count);
void grid_row(struct grid *g, enum row_kind kind);
void grid_add(struct grid *g, struct cell cell);
void grid_addf(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The document takes ownership of the grid. title NULL: no heading; "": an empty line. key: on a
 * page; NULL: none. */
struct section *document_grid(struct document *d, const char *title, const char *key,
                              struct grid *g);

#endif
