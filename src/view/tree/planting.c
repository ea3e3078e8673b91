/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/planting.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define DEEPER UINT64_MAX /* the function id of nodes that stand for several functions */

uint32_t planting_node(struct planting *g, uint32_t parent, const struct planting_step *step)
{
	uint32_t next = (uint32_t)g->depths.count;
	uint32_t id = path_tree_step(&g->index, parent, step->function, next);

	if (id != next)
		return id;
	vec_push(&g->depths, g->depths.items[parent] + 1);
	rounds_add(&g->rounds, parent, step->again);
	g->of->node(g->model, branch_below(parent), step);
	return id;
}

/* Whether the node is "[deeper]", or the innermost function below it. */
static bool is_deeper(const struct planting *g, uint32_t node)
{
	return !g->whole && g->depths.items[node] > TREE_DEPTH_MAX;
}

static void go(struct planting *g, struct rounds_place *at, const struct planting_step *step)
{
	static const struct planting_step deeper = {
	        .function = DEEPER, .name = "[deeper]", .of = ID_NONE};

	bool deep = !g->whole && g->depths.items[at->node] >= TREE_DEPTH_MAX;

	if (is_deeper(g, at->node) || (!g->whole && rounds_fold(&g->rounds, at, step->again)))
		return;
	at->node = planting_node(g, at->node, deep ? &deeper : step);
	at->since++;
}

static void read_steps(struct planting *g, uint32_t path)
{
	g->steps.all.count = 0;
	g->of->steps(g->model, path, &g->steps);
}

/* The node of the innermost function, below a "[deeper]" node. */
static uint32_t innermost(struct planting *g, uint32_t node, uint32_t path)
{
	read_steps(g, path);
	return g->steps.all.count ? planting_node(g, node, vec_last(&g->steps.all)) : node;
}

/* Goes up to the first ancestor with a known place, then down again. */
uint32_t plant(struct planting *g, uint32_t owner, uint32_t first, uint32_t path)
{
	struct rounds_place at = {.node = first};

	g->way.count = 0;
	for (uint32_t p = path; p; p = g->of->parent(g->model, p)) {
		if (g->planted[p] == owner + 1) {
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
		g->planted[g->way.items[i]] = owner + 1;
	}
	return is_deeper(g, at.node) ? innermost(g, at.node, path) : at.node;
}

void planting_begin(struct planting *g, const struct planting_model *of, void *model, size_t paths)
{
	*g = (struct planting){.of = of, .model = model};
	g->places = xcalloc(paths + 1, sizeof(*g->places));
	g->planted = xcalloc(paths + 1, sizeof(*g->planted));
	vec_push(&g->depths, 0);
	rounds_add(&g->rounds, TREE_ROOT, 0);
	of->node(model, branch_below(TREE_ROOT), NULL);
}

void planting_end(struct planting *g, struct branches tree)
{
	for (uint32_t i = 0; i < tree.count; i++) {
		branch_at(tree, i)->levels = g->rounds.nodes.items[i].levels;
		branch_at(tree, i)->round = g->rounds.nodes.items[i].round;
	}
	path_tree_done(&g->index);
	vec_done(&g->depths);
	rounds_done(&g->rounds);
	free(g->places);
	free(g->planted);
	vec_done(&g->steps.all);
	vec_done(&g->way);
}
