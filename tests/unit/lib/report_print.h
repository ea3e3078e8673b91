/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_print: reports on samples as text and JSON, and figures of their rows and trees. */
#ifndef ASSAY_TESTS_REPORT_PRINT_H
#define ASSAY_TESTS_REPORT_PRINT_H

#include "output/document_output.h"
#include "view/samples/document/report_document.h"

#include <string.h>

static inline void report_text(struct report *r, const struct document_text_options *to,
                               struct buf *out)
{
	struct document_reader reader = {.wide = to->wide};
	struct document d;

	document_init(&d);
	report_document(&d, r, &reader);
	document_text_print(&d, to, NULL, out);
	document_done(&d);
}

static inline void report_json(struct report *r, bool nested, struct buf *out)
{
	struct document_reader reader = {.program = true};
	struct document d;

	document_init(&d);
	report_document(&d, r, &reader);
	document_json_print(&d, nested, NULL, out);
	document_done(&d);
}

/* The figures of one node. */
struct tree_node {
	uint32_t parent, first_child, next, levels, round;
	uint32_t id;
	uint64_t samples, self_samples, blocked_ns;
	double share;
};

static inline double tree_figure(const struct view_tree *t, uint32_t id, const char *column)
{
	struct buf text = {0};
	double figure =
	        cell_number(row_cell(t->source, column_named(t->source, column), id, &text));

	buf_done(&text);
	return figure;
}

/* Valid for the next few calls. */
static inline const struct tree_node *tree_node_at(const struct view_tree *t, uint32_t id)
{
	static struct tree_node nodes[8];
	static unsigned next;
	struct tree_node *n = &nodes[next++ % 8];

	*n = (struct tree_node){.parent = t->nodes.items[id].parent,
	                        .first_child = t->nodes.items[id].first_child,
	                        .next = t->nodes.items[id].next,
	                        .levels = t->nodes.items[id].levels,
	                        .round = t->nodes.items[id].round,
	                        .id = id,
	                        .samples = (uint64_t)tree_figure(t, id, "samples"),
	                        .self_samples = (uint64_t)tree_figure(t, id, "self_samples"),
	                        .blocked_ns = (uint64_t)tree_figure(t, id, "blocked"),
	                        .share = tree_figure(t, id, "share")};
	return n;
}

static inline const char *tree_name(const struct view_tree *t, uint32_t id)
{
	static struct buf unused; /* the names of nodes are constants */

	return row_cell(t->source, column_named(t->source, "name"), id, &unused).s;
}

/* The rows that a table shows, and the sums of the others. */
struct flat_rest {
	size_t shown, rows;
	uint64_t samples, runnable_ns, blocked_ns;
	double share;
};

static inline int64_t rest_of(const struct row_set *r, const char *column)
{
	const struct column *c = column_named(r->source, column);

	return c ? r->rest[c - r->source->columns.items].i : 0;
}

static inline struct flat_rest flat_cut_least(struct flat *f, double limit, uint64_t least,
                                              size_t lines)
{
	struct report r = {.options = {.limit = limit, .least = least, .lines = lines},
	                   .view = f->view};
	struct document_reader reader = {0};
	struct row_set *rows = flat_rows(f, &r, &reader);
	struct flat_rest rest = {.shown = rows->shown,
	                         .rows = rows->order.count - rows->shown,
	                         .samples = (uint64_t)rest_of(rows, "samples"),
	                         .runnable_ns = (uint64_t)rest_of(rows, "runnable"),
	                         .blocked_ns = (uint64_t)rest_of(rows, "blocked")};

	rest.share = cell_number(
	        rows->rest[column_named(rows->source, "share") - rows->source->columns.items]);
	row_set_free(rows);
	return rest;
}

static inline struct flat_rest flat_cut(struct flat *f, double limit, size_t lines)
{
	return flat_cut_least(f, limit, 0, lines);
}

/* The row that a table shows first. */
static inline uint32_t shown_first(struct flat *f)
{
	struct report r = {.view = f->view};
	struct document_reader reader = {.program = true};
	struct row_set *rows = flat_rows(f, &r, &reader);
	uint32_t first = rows->shown ? rows->order.items[0] : ID_NONE;

	row_set_free(rows);
	return first;
}

#endif
