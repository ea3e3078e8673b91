/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/tree_builder.h"

#include "base/memory/xalloc.h"
#include "view/tree/view_tree.h"

#include <stdlib.h>

#define DEEPER UINT64_MAX /* the function id of nodes that represent several functions */

uint32_t tree_builder_node(struct view_tree *t, uint32_t parent,
                           const struct tree_builder_step *step)
{
	struct tree_builder *g = &t->builder;
	uint32_t next = (uint32_t)t->nodes.count;
	uint32_t id = path_tree_step(&g->index, parent, step->function, next);

	if (id != next)
		return id;
	vec_push(&g->depths, g->depths.items[parent] + 1);
	vec_push(&g->again, step->again);
	view_tree_add_node(t, parent, step);
	return id;
}

/* Whether the node is "[deeper]", or the innermost function below it. */
static bool is_deeper(const struct tree_builder *g, uint32_t node)
{
	return !g->whole && g->depths.items[node] > TREE_DEPTH_MAX;
}

static const struct tree_builder_step deeper = {
        .function = DEEPER, .name = "[deeper]", .of = ID_NONE};

static void go(struct view_tree *t, struct recursion_place *at,
               const struct tree_builder_step *step)
{
	const struct tree_builder *g = &t->builder;
	bool deep = !g->whole && g->depths.items[at->node] >= TREE_DEPTH_MAX;

	if (is_deeper(g, at->node) || (!g->whole && recursion_fold(t, at, step->again)))
		return;
	at->node = tree_builder_node(t, at->node, deep ? &deeper : step);
	at->since++;
}

static void read_steps(struct view_tree *t, uint32_t path)
{
	t->builder.steps.all.count = 0;
	t->model->steps(t->ctx, path, &t->builder.steps);
}

/* The node of the innermost function, below a "[deeper]" node. */
static uint32_t innermost(struct view_tree *t, uint32_t node, uint32_t path)
{
	const struct tree_builder_steps *steps = &t->builder.steps;

	read_steps(t, path);
	return steps->all.count ? tree_builder_node(t, node, vec_last(&steps->all)) : node;
}

/* Goes up to the first ancestor with a known place, then down again. */
uint32_t tree_builder_add_path(struct view_tree *t, uint32_t owner, uint32_t first, uint32_t path)
{
	struct tree_builder *g = &t->builder;
	struct recursion_place at = {.node = first};

	g->way.count = 0;
	for (uint32_t p = path; p; p = t->model->parent(t->ctx, p)) {
		if (g->added[p] == owner + 1) {
			at = g->places[p];
			break;
		}
		vec_push(&g->way, p);
	}
	for (size_t i = g->way.count; i-- > 0;) {
		read_steps(t, g->way.items[i]);
		vec_each (step, &g->steps.all)
			go(t, &at, step);
		g->places[g->way.items[i]] = at;
		g->added[g->way.items[i]] = owner + 1;
	}
	return is_deeper(g, at.node) ? innermost(t, at.node, path) : at.node;
}

uint32_t tree_builder_add_way(struct view_tree *t, const struct tree_builder_steps *steps,
                              const struct tree_builder_step *last)
{
	struct recursion_place at = {.node = TREE_ROOT};

	vec_each (step, &steps->all)
		go(t, &at, step);
	if (is_deeper(&t->builder, at.node))
		return tree_builder_node(t, at.node, last ? last : vec_last(&steps->all));
	if (!last)
		return at.node;
	return tree_builder_node(t, tree_builder_node(t, at.node, &deeper), last);
}

void tree_builder_begin(struct view_tree *t, size_t paths)
{
	static const struct tree_builder_step root = {.of = ID_NONE};
	struct tree_builder *g = &t->builder;

	g->places = xcalloc(paths + 1, sizeof(*g->places));
	g->added = xcalloc(paths + 1, sizeof(*g->added));
	vec_push(&g->depths, 0);
	vec_push(&g->again, 0);
	view_tree_add_node(t, TREE_ROOT, &root);
}

void tree_builder_reserve(struct view_tree *t, size_t nodes)
{
	struct tree_builder *g = &t->builder;

	path_tree_reserve(&g->index, nodes);
	vec_reserve(&g->depths, g->depths.count + nodes);
	vec_reserve(&g->again, g->again.count + nodes);
}

void tree_builder_end(struct tree_builder *g)
{
	path_tree_done(&g->index);
	vec_done(&g->depths);
	vec_done(&g->again);
	free(g->places);
	free(g->added);
	vec_done(&g->steps.all);
	vec_done(&g->way);
}
