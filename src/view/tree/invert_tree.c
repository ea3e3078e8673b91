/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/invert_tree.h"

#include "base/memory/xalloc.h"
#include "view/tree/tree_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The original tree, with callers above callees. */
struct top_down {
	VEC(struct view_node) nodes;
	VEC(union view_value) self;
	struct tree_builder builder;
	struct tree_functions functions;
	uint32_t *outermost; /* per node: the first function of its path */
	const struct tree_builder_step *root;
	size_t steps; /* read so far */
};

#define MOVE(to, from)                                                                             \
	do {                                                                                       \
		memcpy(&(to), &(from), sizeof(to));                                                \
		memset(&(from), 0, sizeof(from));                                                  \
	} while (0)

static bool has_value(const struct view_tree *t, uint32_t node)
{
	for (size_t m = 0; m < t->measures; m++)
		if (!cell_is_zero(view_tree_self_of(t, node, m)))
			return true;
	return false;
}

/* The measures have different units: the first measure that is not 0 decides. */
static double size_of(const struct view_tree *t, uint32_t node)
{
	for (size_t m = 0; m < t->measures; m++) {
		struct cell value = view_tree_self_of(t, node, m);

		if (!cell_is_zero(value))
			return fabs(cell_number(value));
	}
	return 0;
}

static int compare_sizes(const void *a, const void *b, void *ctx)
{
	const double *sizes = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (sizes[x] != sizes[y])
		return sizes[x] > sizes[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The nodes that have values of their own, the largest first. */
static uint32_t *in_order(const struct view_tree *t, size_t *count)
{
	uint32_t *order = xcalloc(t->nodes.count + 1, sizeof(*order));
	double *sizes = xcalloc(t->nodes.count + 1, sizeof(*sizes));

	*count = 0;
	for (uint32_t i = 0; i < t->nodes.count; i++) {
		sizes[i] = size_of(t, i);
		if (has_value(t, i))
			order[(*count)++] = i;
	}
	qsort_r(order, *count, sizeof(*order), compare_sizes, sizes);
	free(sizes);
	return order;
}

static void take_top_down(struct top_down *of, struct view_tree *t)
{
	size_t count = t->nodes.count;

	tree_functions_find(&of->functions, t);
	of->outermost = xcalloc(count, sizeof(*of->outermost));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = t->nodes.items[i].parent;

		of->outermost[i] = parent == TREE_ROOT ? i : of->outermost[parent];
	}
	MOVE(of->nodes, t->nodes);
	MOVE(of->self, t->self);
	MOVE(of->builder, t->builder);
}

static void top_down_done(struct top_down *of)
{
	vec_done(&of->nodes);
	vec_done(&of->self);
	tree_builder_end(&of->builder);
	tree_functions_done(&of->functions);
	free(of->outermost);
}

/* Called and inlined instances of a function are the same function. */
static struct tree_builder_step step_of(const struct top_down *of, uint32_t node)
{
	const struct view_node *n = &of->nodes.items[node];

	if (node == TREE_ROOT)
		return *of->root;
	return (struct tree_builder_step){.function = of->functions.of[node],
	                                  .again = of->builder.again.items[node],
	                                  .name = n->name,
	                                  .of = n->of};
}

/* Reads the path of a node, innermost function first; false: it is too long. */
static bool read_way(struct top_down *of, uint32_t node, size_t depth_max,
                     struct tree_builder_steps *way)
{
	way->all.count = 0;
	do {
		if (way->all.count >= depth_max)
			return false;
		of->steps++;
		vec_push(&way->all, step_of(of, node));
		node = of->nodes.items[node].parent;
	} while (node != TREE_ROOT);
	return true;
}

/* Returns the node of a path; *first: its node of the first level. */
static uint32_t add_path(struct view_tree *t, struct top_down *of, uint32_t node,
                         struct tree_builder_steps *way, uint32_t *first)
{
	struct tree_builder_step last;
	size_t depth_max = of->steps < INVERT_STEPS_MAX ? SIZE_MAX : INVERT_DEPTH_MAX;
	bool complete;

	if (node == TREE_ROOT && !of->root)
		return *first = TREE_ROOT;
	last = step_of(of, of->outermost[node]);
	if (t->nodes.count > INVERT_NODES_MAX)
		depth_max = 1;
	complete = read_way(of, node, depth_max, way);
	*first = tree_builder_node(t, TREE_ROOT, way->all.items);
	return tree_builder_add_way(t, way, complete ? NULL : &last);
}

static void add_values(struct view_tree *t, uint32_t node, const union view_value *values)
{
	for (size_t m = 0; m < t->measures; m++)
		view_tree_add(t, node, m,
		              t->real >> m & 1 ? cell_real(values[m].d) : cell_int(values[m].i));
}

void invert_tree(struct view_tree *t, const struct tree_builder_step *root, uint32_t **first)
{
	size_t nodes = t->nodes.count, count;
	struct tree_builder_steps way = {0};
	struct top_down of = {.root = root};
	uint32_t *order, *firsts = xmalloc(nodes * sizeof(*firsts));

	memset(firsts, 0xff, nodes * sizeof(*firsts));
	order = in_order(t, &count);
	take_top_down(&of, t);
	tree_builder_begin(t, 0);
	t->nodes.items[TREE_ROOT].name = "all";
	for (size_t i = 0; i < count; i++) {
		uint32_t node = add_path(t, &of, order[i], &way, &firsts[order[i]]);

		add_values(t, node, &of.self.items[order[i] * t->measures]);
	}
	vec_done(&way.all);
	top_down_done(&of);
	free(order);
	if (first)
		*first = firsts;
	else
		free(firsts);
}

static struct column *measure_column(struct row_source *s, column_get *get, uint32_t measure)
{
	vec_each (c, &s->columns)
		if (c->get == get && c->argument == measure)
			return c;
	return NULL;
}

/* The column with the share that `of` is of its base. */
static struct column *share_of(struct row_source *s, const struct column *of)
{
	vec_each (c, &s->columns)
		if (c->role == ROLE_RATIO && c->of && !strcmp(c->of, of->name))
			return c;
	return NULL;
}

static void move_title(struct column *from, struct column *to)
{
	if (!from || !to || !from->title || !*from->title)
		return;
	to->title = from->title;
	from->title = NULL;
}

void invert_tree_columns(struct row_source *s, column_get *self, column_get *total)
{
	vec_each (c, &s->columns) {
		struct column *whole;

		if (!strcmp(c->name, "name"))
			c->title = "inverted call tree";
		if (c->get != self)
			continue;
		whole = measure_column(s, total, c->argument);
		move_title(c, whole);
		if (whole)
			move_title(share_of(s, c), share_of(s, whole));
		else
			c->get = total;
	}
}
