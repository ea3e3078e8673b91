/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized_tree.h"

#include "base/memory/xalloc.h"
#include "view/tree/planting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS UINT64_MAX /* marks the step of a process: the upper half of the function id */

struct symbolized_growth {
	struct symbolized_tree *tree;
	const struct named_selection *selection;
	struct planting planting;
	bool processes; /* the first level is processes */
};

static uint32_t path_parent(void *model, uint32_t path)
{
	return ((struct symbolized_growth *)model)->selection->n->paths.items[path].parent;
}

static void add_node(void *model, struct branch branch, const struct planting_step *step)
{
	struct symbolized_tree *t = ((struct symbolized_growth *)model)->tree;
	struct named_node node = {.branch = branch, .name = "all", .image = NAMED_NONE};

	if (step) {
		node.name = step->name;
		node.image = step->of;
		node.function = step->function < PROCESS << 32;
		node.inlined = step->inlined;
	}
	vec_push(&t->nodes, node);
}

/* Functions are equal if name and file are equal; an inlined function differs from the same
 * function called. */
static struct planting_step line_step(const struct symbolized_profile *n, uint32_t place,
                                      uint32_t line, bool inlined)
{
	const struct named_function *f = &n->functions.items[n->lines.items[line].function];
	uint32_t image = n->places.items[place].image;
	uint64_t file = image == NAMED_NONE ? 0 : n->images.items[image].name;
	uint64_t function = (uint64_t)f->name << 32 | file << 1 | inlined;

	return (struct planting_step){.function = function,
	                              .again = function,
	                              .name = intern_text(&n->texts, f->name),
	                              .of = image,
	                              .inlined = inlined};
}

/* Appends the functions of the path's place, outermost first. */
static void path_steps(void *model, uint32_t path, struct planting_steps *out)
{
	const struct symbolized_growth *g = model;
	const struct symbolized_profile *n = g->selection->n;
	uint32_t place = n->paths.items[path].place, leaf = named_leaf(g->selection, place);
	const struct named_place *p = &n->places.items[place];
	uint32_t end = p->first + p->count;

	for (uint32_t line = end; p->count && line-- > leaf;)
		vec_push(&out->all, line_step(n, place, line, line + 1 < end));
}

static const struct planting_model model = {path_parent, path_steps, add_node};

static uint32_t first_level(struct symbolized_growth *g, uint32_t process)
{
	const char *name = intern_text(&g->selection->n->texts, process);
	const struct planting_step itself = {.function = PROCESS << 32 | process,
	                                     .name = *name ? name : "[unknown]",
	                                     .of = NAMED_NONE};

	return g->processes ? planting_node(&g->planting, TREE_ROOT, &itself) : TREE_ROOT;
}

static int compare_processes(const void *a, const void *b, void *ctx)
{
	const struct symbolized_profile *n = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t px = n->owners.items[n->rows.items[x].owner].process;
	uint32_t py = n->owners.items[n->rows.items[y].owner].process;

	if (px != py)
		return px < py ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Plants the rows process by process, in order, because many rows share the same paths. */
static int plant_rows(struct symbolized_growth *g, struct error *err)
{
	const struct symbolized_profile *n = g->selection->n;
	size_t count = g->selection->rows.count;
	uint32_t *sorted = xcalloc(count + 1, sizeof(*sorted)), process, node;
	int ret = 0;

	if (count)
		memcpy(sorted, g->selection->rows.items, count * sizeof(*sorted));
	qsort_r(sorted, count, sizeof(*sorted), compare_processes, (void *)(uintptr_t)n);
	for (size_t i = 0; i < count && !ret; i++) {
		const struct named_row *row = &n->rows.items[sorted[i]];

		process = n->owners.items[row->owner].process;
		node = plant(&g->planting, process, first_level(g, process), row->path);
		g->tree->nodes.items[node].self =
		        named_add(g->tree->nodes.items[node].self, row->values[n->main_value]);
		if (g->tree->nodes.count > NAMED_NODES_MAX)
			ret = error_set(err, EFBIG,
			                "the call tree has more than %zu nodes: select a process "
			                "or function, or use 'assay sql'",
			                NAMED_NODES_MAX);
	}
	free(sorted);
	return ret;
}

static void sum_up(struct symbolized_tree *t, const struct named_selection *s)
{
	struct named_node *nodes = t->nodes.items;

	for (size_t i = t->nodes.count; i-- > 0;) {
		nodes[i].total = named_add(nodes[i].total, nodes[i].self);
		if (i != TREE_ROOT)
			nodes[nodes[i].branch.parent].total =
			        named_add(nodes[nodes[i].branch.parent].total, nodes[i].total);
		nodes[i].share = named_share(s, nodes[i].total);
		nodes[i].self_share = named_share(s, nodes[i].self);
	}
}

static int compare_nodes(const void *a, const void *b, void *ctx)
{
	const struct named_node *nodes = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].total != nodes[y].total)
		return nodes[x].total < nodes[y].total ? 1 : -1;
	return x < y ? -1 : x > y;
}

int symbolized_tree_new(struct symbolized_tree **out, const struct named_selection *s,
                        struct error *err)
{
	struct symbolized_growth g = {.tree = xcalloc(1, sizeof(*g.tree)), .selection = s};
	int ret;

	vec_each (o, &s->n->owners)
		g.processes |= o->process != 0;
	planting_begin(&g.planting, &model, &g, s->n->paths.count);
	ret = plant_rows(&g, err);
	planting_end(&g.planting, BRANCHES(&g.tree->nodes));
	sum_up(g.tree, s);
	branches_link(BRANCHES(&g.tree->nodes), compare_nodes, g.tree->nodes.items);
	if (ret) {
		symbolized_tree_free(g.tree);
		return ret;
	}
	*out = g.tree;
	return 0;
}

void symbolized_tree_free(struct symbolized_tree *t)
{
	if (!t)
		return;
	vec_done(&t->nodes);
	free(t);
}

bool symbolized_tree_shown(const struct symbolized_tree *t, const struct named_node *node,
                           double limit)
{
	double share = node->share < 0 ? -node->share : node->share;

	/* Folding a recursion leaves nodes without a value and without children. */
	if (node != t->nodes.items && !node->total && node->branch.first_child == NAMED_NONE)
		return false;
	return share >= limit || node == t->nodes.items;
}
