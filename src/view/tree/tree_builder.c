/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/tree_builder.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define DEEPER UINT64_MAX /* the function id of nodes that stand for several functions */

uint32_t tree_builder_node(struct tree_builder *g, uint32_t parent,
                           const struct tree_builder_step *step)
{
	uint32_t next = (uint32_t)g->depths.count;
	uint32_t id = path_tree_step(&g->index, parent, step->function, next);

	if (id != next)
		return id;
	vec_push(&g->depths, g->depths.items[parent] + 1);
	recursion_add(&g->rounds, parent, step->again);
	g->of->node(g->model, tree_link_below(parent), step);
	return id;
}

/* Whether the node is "[deeper]", or the innermost function below it. */
static bool is_deeper(const struct tree_builder *g, uint32_t node)
{
	return !g->whole && g->depths.items[node] > TREE_DEPTH_MAX;
}

static void go(struct tree_builder *g, struct recursion_place *at,
               const struct tree_builder_step *step)
{
	static const struct tree_builder_step deeper = {
	        .function = DEEPER, .name = "[deeper]", .of = ID_NONE};

	bool deep = !g->whole && g->depths.items[at->node] >= TREE_DEPTH_MAX;

	if (is_deeper(g, at->node) || (!g->whole && recursion_fold(&g->rounds, at, step->again)))
		return;
	at->node = tree_builder_node(g, at->node, deep ? &deeper : step);
	at->since++;
}

static void read_steps(struct tree_builder *g, uint32_t path)
{
	g->steps.all.count = 0;
	g->of->steps(g->model, path, &g->steps);
}

/* The node of the innermost function, below a "[deeper]" node. */
static uint32_t innermost(struct tree_builder *g, uint32_t node, uint32_t path)
{
	read_steps(g, path);
	return g->steps.all.count ? tree_builder_node(g, node, vec_last(&g->steps.all)) : node;
}

/* Goes up to the first ancestor with a known place, then down again. */
uint32_t tree_builder_add_path(struct tree_builder *g, uint32_t owner, uint32_t first,
                               uint32_t path)
{
	struct recursion_place at = {.node = first};

	g->way.count = 0;
	for (uint32_t p = path; p; p = g->of->parent(g->model, p)) {
		if (g->added[p] == owner + 1) {
			at = g->places[p];
			break;
		}
		vec_push(&g->way, p);
	}
	for (size_t i = g->way.count; i-- > 0;) {
		read_steps(g, g->way.items[i]);
		vec_each (step, &g->steps.all)
			go(g, &at, step);
		g->places[g->way.items[i]] = at;
		g->added[g->way.items[i]] = owner + 1;
	}
	return is_deeper(g, at.node) ? innermost(g, at.node, path) : at.node;
}

void tree_builder_begin(struct tree_builder *g, const struct tree_source *of, void *model,
                        size_t paths)
{
	*g = (struct tree_builder){.of = of, .model = model};
	g->places = xcalloc(paths + 1, sizeof(*g->places));
	g->added = xcalloc(paths + 1, sizeof(*g->added));
	vec_push(&g->depths, 0);
	recursion_add(&g->rounds, TREE_ROOT, 0);
	of->node(model, tree_link_below(TREE_ROOT), NULL);
}

void tree_builder_end(struct tree_builder *g, struct tree_links tree)
{
	for (uint32_t i = 0; i < tree.count; i++) {
		tree_link_at(tree, i)->levels = g->rounds.nodes.items[i].levels;
		tree_link_at(tree, i)->round = g->rounds.nodes.items[i].round;
	}
	path_tree_done(&g->index);
	vec_done(&g->depths);
	recursion_done(&g->rounds);
	free(g->places);
	free(g->added);
	vec_done(&g->steps.all);
	vec_done(&g->way);
}
