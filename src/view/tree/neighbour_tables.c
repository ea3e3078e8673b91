/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/neighbour_tables.h"

#include "base/memory/xalloc.h"
#include "view/function_names.h"
#include "view/tree/neighbours.h"
#include "view/tree/tree_functions.h"
#include "view/tree/view_tree.h"

#include <stdlib.h>
#include <string.h>

enum neighbour_figure { FIGURE_SELF, FIGURE_TOTAL, FIGURE_PART, FIGURES };

/* The model of the rows of one table. */
struct neighbour_rows {
	const struct view_tree *tree;
	VEC(struct neighbour_row {
		uint32_t node; /* a node of the function */
		bool self;
	})
	rows;
	VEC(struct cell) cells; /* (row * measures + measure) * FIGURES + figure */
	struct cell *sums;      /* per measure: the sum of all parts */
};

/* ---- sums ---------------------------------------------------------------- */

/* Adds a node's own values or its totals to a figure of a row. */
static void add_figure(struct neighbour_rows *r, uint32_t row, enum neighbour_figure figure,
                       uint32_t node, bool own)
{
	size_t measures = r->tree->measures;

	for (size_t m = 0; m < measures; m++) {
		struct cell *to = &r->cells.items[(row * measures + m) * FIGURES + figure];
		struct cell value = own ? view_tree_self_of(r->tree, node, m)
		                        : view_tree_total_of(r->tree, node, m);

		*to = cell_add(*to, value);
		if (figure == FIGURE_PART)
			r->sums[m] = cell_add(r->sums[m], value);
	}
}

static void add_rows(struct neighbour_rows *r, const struct tree_functions *f,
                     const struct neighbours *n)
{
	while (r->rows.count < n->functions.count) {
		uint32_t row = (uint32_t)r->rows.count;

		vec_push(&r->rows, (struct neighbour_row){f->nodes.items[n->functions.items[row]],
		                                          row == n->self});
		for (size_t i = 0; i < r->tree->measures * FIGURES; i++)
			vec_push(&r->cells, cell_int(0));
	}
}

static void add_node(struct neighbour_rows *r, uint32_t node, struct neighbour at)
{
	if (at.row != ID_NONE) {
		add_figure(r, at.row, FIGURE_SELF, node, true);
		if (at.once)
			add_figure(r, at.row, FIGURE_TOTAL, node, false);
		if (at.part)
			add_figure(r, at.row, FIGURE_PART, node, false);
	}
	if (at.self != ID_NONE) {
		add_figure(r, at.self, FIGURE_SELF, node, true);
		add_figure(r, at.self, FIGURE_TOTAL, node, true);
		if (at.self_part)
			add_figure(r, at.self, FIGURE_PART, node, true);
	}
}

/* Visits all nodes that have values. */
static void sum_up(struct neighbour_rows *r, const struct tree_functions *f, const uint8_t *chosen,
                   enum neighbours_of of)
{
	const struct view_tree *t = r->tree;
	struct view_tree_walk w = {0};
	struct neighbours n;
	bool into;

	neighbours_init(&n, of, chosen, f->nodes.count);
	do {
		while (n.path.count > w.depth)
			neighbours_leave(&n);
		into = !t->nodes.items[w.node].empty;
		if (into) {
			struct neighbour at = neighbours_enter(&n, f->of[w.node]);

			add_rows(r, f, &n);
			add_node(r, w.node, at);
		}
	} while (view_tree_step(t, &w, into));
	neighbours_done(&n);
}

/* ---- columns ------------------------------------------------------------- */

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct neighbour_rows *r = s->model;

	return r->cells.items[row * r->tree->measures * FIGURES + c->argument];
}

/* The column of the tree; `argument` is its index there. */
static const struct column *tree_column(const struct neighbour_rows *r, const struct column *c)
{
	return &r->tree->source->columns.items[c->argument];
}

static struct cell key_cell(const struct row_source *s, const struct column *c, uint32_t row,
                            struct buf *text)
{
	const struct neighbour_rows *r = s->model;
	const struct neighbour_row *of = &r->rows.items[row];

	if (of->self)
		return cell_text("[self]");
	if (of->node == TREE_ROOT)
		return cell_text("[no caller]");
	return row_cell(r->tree->source, tree_column(r, c), of->node, text);
}

static void key_json(const struct row_source *s, const struct column *c, uint32_t row,
                     struct json *j)
{
	const struct neighbour_rows *r = s->model;
	const struct column *of = tree_column(r, c);

	of->json(r->tree->source, of, r->rows.items[row].node, j);
}

/* The parts of the column `of` of the tree's totals. */
static void add_part(struct row_source *s, const struct column *of, const struct column *share)
{
	static const char *const keys[][2] = {
	        {"total", "part"}, {"total_ns", "part_ns"}, {"samples", "part_samples"}};
	bool main = !strcmp(of->name, share->of);
	struct column part = {.name = "part",
	                      .title = main ? "part" : NULL,
	                      .unit = of->unit,
	                      .role = ROLE_SUM,
	                      .get = figure_cell,
	                      .argument = of->argument * FIGURES + FIGURE_PART};
	struct column part_share = *share;

	for (size_t i = 0; of->key && i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(of->key, keys[i][0]))
			part.key = keys[i][1];
	if (!main)
		part.name = part.key;
	if (part.name)
		vec_push(&s->columns, part);
	if (!main)
		return;
	part_share.name = part_share.key = "part_share";
	part_share.title = "";
	part_share.of = "part";
	vec_push(&s->columns, part_share);
}

/* Columns with figures and names; other columns of the tree are not for readers or programs. */
static void add_column(struct row_source *s, const struct view_tree *t, uint32_t index,
                       const char *title)
{
	struct column c = t->source->columns.items[index];

	if (c.get == view_tree_self || c.get == view_tree_total) {
		c.argument = c.argument * FIGURES +
		             (c.get == view_tree_self ? FIGURE_SELF : FIGURE_TOTAL);
		c.get = figure_cell;
	} else if (c.unit == &unit_text) {
		c.title = c.title ? title : NULL;
		c.argument = index;
		c.get = c.get ? key_cell : NULL;
		c.json = c.json ? key_json : NULL;
	} else if (c.role != ROLE_RATIO) {
		return;
	}
	vec_push(&s->columns, c);
}

static void add_columns(struct row_source *s, const struct view_tree *t, const char *title)
{
	const struct column *share = column_named(t->source, "share");

	vec_each (c, &t->source->columns)
		if (c->role == ROLE_TOTAL)
			add_part(s, c, share);
	for (uint32_t i = 0; i < t->source->columns.count; i++)
		add_column(s, t, i, title);
}

/* The limit is a share of the function's total, in any measure. */
static bool is_worth(const struct row_source *s, uint32_t row, double limit)
{
	const struct neighbour_rows *r = s->model;
	const struct cell *cells = &r->cells.items[row * r->tree->measures * FIGURES];
	bool worth = limit <= 0;

	for (size_t m = 0; m < r->tree->measures; m++)
		worth |= !cell_is_zero(r->sums[m]) &&
		         cell_ratio(cells[m * FIGURES + FIGURE_TOTAL], r->sums[m]) >= limit;
	return worth;
}

static void free_rows(void *model)
{
	struct neighbour_rows *r = model;

	vec_done(&r->rows);
	vec_done(&r->cells);
	free(r->sums);
	free(r);
}

static struct row_set *rows_of(const struct tree_functions *f, const uint8_t *chosen,
                               enum neighbours_of of, const struct report_request *q)
{
	const char *const own[] = {"part", column_named(f->tree->source, "share")->of};
	struct neighbour_rows *r = xcalloc(1, sizeof(*r));
	struct row_source *s = row_source_new(r);
	column_names by = request_order(q, own, 2);
	struct row_set *set;

	r->tree = f->tree;
	r->sums = xcalloc(f->tree->measures + 1, sizeof(*r->sums));
	sum_up(r, f, chosen, of);
	s->free = free_rows;
	s->rows = (uint32_t)r->rows.count;
	s->worth = is_worth;
	add_columns(s, f->tree, of == NEIGHBOURS_CALLERS ? "caller" : "callee");
	set = row_set_new(s, &(struct row_request){.by = by.items,
	                                           .by_count = by.count,
	                                           .limit = request_limit(q, &q->reader),
	                                           .lines = q->lines});
	vec_done(&by);
	return set;
}

/* ---- tables -------------------------------------------------------------- */

static int make_rows(struct row_set **out, const struct tree_functions *f, const char *function,
                     enum neighbours_of of, const struct report_request *q, struct error *err)
{
	uint8_t *chosen;
	int ret;

	if (!function)
		return 0;
	chosen = xcalloc(f->names.count + 1, sizeof(*chosen));
	/* The root has no name. */
	ret = function_names_choose((const char *const *)f->names.items + 1, f->names.count - 1,
	                            function, chosen + 1, err);
	if (!ret)
		*out = rows_of(f, chosen, of, q);
	free(chosen);
	return ret;
}

int neighbour_tables_make(struct neighbour_tables *n, struct view_tree *tree,
                          const struct report_request *q, struct error *err)
{
	struct tree_functions f = {0};
	int ret;

	*n = (struct neighbour_tables){.tree = tree, .callers = q->callers, .callees = q->callees};
	tree_functions_find(&f, tree);
	ret = make_rows(&n->caller_rows, &f, q->callers, NEIGHBOURS_CALLERS, q, err);
	if (!ret)
		ret = make_rows(&n->callee_rows, &f, q->callees, NEIGHBOURS_CALLEES, q, err);
	tree_functions_done(&f);
	return ret;
}

void neighbour_tables_done(struct neighbour_tables *n)
{
	row_set_free(n->caller_rows);
	row_set_free(n->callee_rows);
	view_tree_free(n->tree);
	*n = (struct neighbour_tables){0};
}

static void add_table(struct document *d, const char *title, const char *function, const char *key,
                      struct row_set **rows)
{
	struct buf text = {0};

	if (!*rows)
		return;
	buf_addf(&text, "%s %s", title, function);
	document_table(d, MEDIA_ALL, buf_text(&text), key, *rows);
	*rows = NULL;
	buf_done(&text);
}

void neighbour_tables_add(struct neighbour_tables *n, struct document *d)
{
	add_table(d, "Callers of", n->callers, "callers", &n->caller_rows);
	add_table(d, "Called by", n->callees, "callees", &n->callee_rows);
}
