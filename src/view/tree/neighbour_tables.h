/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbour_tables: the callers and the callees of a function in a call tree, as tables.
 *
 * The tree must be whole (view_tree_whole()) and finished. The measures, units and keys of the
 * tables are those of the tree's columns; "part" and "part_share" are added: what each caller or
 * callee has of the function's total (neighbours.h). Rows are functions with the same name and the
 * same other keys; the callers of the outermost functions are in the row "[no caller]", and
 * the function's own time is in the row "[self]" of its callees.
 *
 * neighbour_tables_make() / neighbour_tables_done(), which also frees the tree. One thread. Uses:
 * base, view.
 */
#ifndef ASSAY_VIEW_TREE_NEIGHBOUR_TABLES_H
#define ASSAY_VIEW_TREE_NEIGHBOUR_TABLES_H

#include "base/error.h"
#include "view/request.h"

struct neighbour_tables {
	struct view_tree *tree;
	const char *callers, *callees;             /* the functions; NULL: no table */
	struct row_set *caller_rows, *callee_rows; /* a document takes ownership of them */
};

/* Takes ownership of the tree, also on errors. The limit of the request is a share of the
 * function's total. -ENOENT: there is no such function. */
int neighbour_tables_make(struct neighbour_tables *n, struct view_tree *tree,
                          const struct report_request *q, struct error *err);
void neighbour_tables_done(struct neighbour_tables *n);

/* Adds the tables "callers" and "callees" to a document, which must be freed before them. */
void neighbour_tables_add(struct neighbour_tables *n, struct document *d);

#endif
