/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/named_tree.h"

#include "base/xalloc.h"
#include "view/rounds.h"
#include "view/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEEPER UINT64_MAX  /* the function of nodes that stand for many */
#define PROCESS UINT64_MAX /* of nodes of processes: the top half */

struct node_key {
	uint64_t parent, function;
};

struct planting {
	struct named_tree *tree;
	const struct named_selection *selection;
	struct id_table index; /* from key to node */
	VEC(struct node_key) keys;
	VEC(uint32_t) depths;
	struct rounds rounds;
	struct rounds_place *places; /* by path: of the process that it was last planted for */
	uint32_t *planted;           /* by path: that process's text + 1; 0: none */
	bool processes;              /* they are the first level */
};

/* One step down. */
struct step {
	uint64_t function;
	const char *name;
	uint32_t image;
	bool inlined;
};

static bool key_equal(const void *ctx, uint32_t id, const void *key)
{
	return !memcmp(&((const struct planting *)ctx)->keys.items[id], key,
	               sizeof(struct node_key));
}

static uint32_t node_add(struct planting *g, uint32_t parent, const struct step *step, bool again)
{
	struct node_key key = {parent, step->function};
	uint64_t hash = hash_bytes(&key, sizeof(key));
	uint32_t id = id_table_find(&g->index, hash, key_equal, g, &key);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)g->tree->nodes.count;
	id_table_add(&g->index, hash, id);
	vec_push(&g->keys, key);
	vec_push(&g->depths, g->depths.items[parent] + 1);
	rounds_add(&g->rounds, parent, again ? step->function : 0);
	vec_push(&g->tree->nodes, (struct named_node){.name = step->name,
	                                              .parent = parent,
	                                              .first_child = NAMED_NONE,
	                                              .next = NAMED_NONE,
	                                              .image = step->image,
	                                              .function = again,
	                                              .inlined = step->inlined});
	return id;
}

static void plant_root(struct planting *g)
{
	/* Its key is no other node's. */
	vec_push(&g->keys, (struct node_key){UINT64_MAX, 0});
	vec_push(&g->depths, 0);
	rounds_add(&g->rounds, TREE_ROOT, 0);
	vec_push(&g->tree->nodes, (struct named_node){.name = "all",
	                                              .first_child = NAMED_NONE,
	                                              .next = NAMED_NONE,
	                                              .image = NAMED_NONE});
}

/* The same name in the same file is the same function; inlined ones are none of those called. */
static struct step line_step(const struct planting *g, uint32_t place, uint32_t line, bool inlined)
{
	const struct named_paths *n = g->selection->n;
	const struct named_function *f = &n->functions.items[n->lines.items[line].function];
	uint32_t image = n->places.items[place].image;
	uint64_t file = image == NAMED_NONE ? 0 : n->images.items[image].name;

	return (struct step){.function = (uint64_t)f->name << 32 | file << 1 | inlined,
	                     .name = intern_text(&n->texts, f->name),
	                     .image = image,
	                     .inlined = inlined};
}

static void go(struct planting *g, struct rounds_place *at, const struct step *step)
{
	static const struct step deeper = {
	        .function = DEEPER, .name = "[deeper]", .image = NAMED_NONE};
	bool deep = g->depths.items[at->node] >= TREE_DEPTH_MAX;

	if (g->keys.items[at->node].function == DEEPER ||
	    rounds_fold(&g->rounds, at, step->function))
		return;
	at->node = node_add(g, at->node, deep ? &deeper : step, !deep);
	at->since++;
}

/* Its functions, outermost first. */
static void go_place(struct planting *g, struct rounds_place *at, uint32_t place)
{
	const struct named_place *p = &g->selection->n->places.items[place];
	uint32_t leaf = named_leaf(g->selection, place);
	struct step step;

	for (uint32_t line = p->first + p->count; p->count && line-- > leaf;) {
		step = line_step(g, place, line, line + 1 < p->first + p->count);
		go(g, at, &step);
	}
}

/* Below a "[deeper]" the innermost function is shown again. */
static uint32_t innermost(struct planting *g, uint32_t node, uint32_t path)
{
	const struct named_paths *n = g->selection->n;
	uint32_t place = n->paths.items[path].place, leaf = named_leaf(g->selection, place);
	const struct named_place *p = &n->places.items[place];
	struct step step;

	if (leaf == NAMED_NONE)
		return node;
	step = line_step(g, place, leaf, leaf + 1 < p->first + p->count);
	return node_add(g, node, &step, true);
}

static uint32_t first_level(struct planting *g, uint32_t process)
{
	const char *name = intern_text(&g->selection->n->texts, process);
	const struct step itself = {.function = PROCESS << 32 | process,
	                            .name = *name ? name : "[not told]",
	                            .image = NAMED_NONE};

	return g->processes ? node_add(g, TREE_ROOT, &itself, false) : TREE_ROOT;
}

/* Up to the first ancestor that is known, and down again. */
static uint32_t plant(struct planting *g, uint32_t process, uint32_t path)
{
	const struct named_path *paths = g->selection->n->paths.items;
	const struct rounds_place *known = NULL;
	VEC(uint32_t) way = {0};
	struct rounds_place at = {0};

	for (uint32_t p = path; p != NAMED_ROOT && !known; p = paths[p].parent) {
		if (g->planted[p] == process + 1)
			known = &g->places[p];
		else
			vec_push(&way, p);
	}
	if (known)
		at = *known;
	else
		at.node = first_level(g, process);
	for (size_t i = way.count; i-- > 0;) {
		go_place(g, &at, paths[way.items[i]].place);
		g->places[way.items[i]] = at;
		g->planted[way.items[i]] = process + 1;
	}
	vec_done(&way);
	return g->keys.items[at.node].function == DEEPER ? innermost(g, at.node, path) : at.node;
}

static int compare_processes(const void *a, const void *b, void *ctx)
{
	const struct named_paths *n = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t px = n->owners.items[n->rows.items[x].owner].process;
	uint32_t py = n->owners.items[n->rows.items[y].owner].process;

	if (px != py)
		return px < py ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Process by process, each one's rows in their order: the same paths are in many. */
static int plant_rows(struct planting *g, struct error *err)
{
	const struct named_paths *n = g->selection->n;
	size_t count = g->selection->rows.count;
	uint32_t *sorted = xcalloc(count + 1, sizeof(*sorted)), node;
	int ret = 0;

	if (count)
		memcpy(sorted, g->selection->rows.items, count * sizeof(*sorted));
	qsort_r(sorted, count, sizeof(*sorted), compare_processes, (void *)(uintptr_t)n);
	for (size_t i = 0; i < count && !ret; i++) {
		const struct named_row *row = &n->rows.items[sorted[i]];

		node = plant(g, n->owners.items[row->owner].process, row->path);
		g->tree->nodes.items[node].self =
		        named_add(g->tree->nodes.items[node].self, row->values[n->main_value]);
		if (g->tree->nodes.count > NAMED_NODES_MAX)
			ret = error_set(err, EFBIG,
			                "the call tree has more than %zu nodes: choose a process "
			                "or function, or ask 'assay sql'",
			                NAMED_NODES_MAX);
	}
	free(sorted);
	return ret;
}

static void sum_up(struct named_tree *t, const struct named_selection *s)
{
	struct named_node *nodes = t->nodes.items;

	for (size_t i = t->nodes.count; i-- > 0;) {
		nodes[i].total = named_add(nodes[i].total, nodes[i].self);
		if (i != TREE_ROOT)
			nodes[nodes[i].parent].total =
			        named_add(nodes[nodes[i].parent].total, nodes[i].total);
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

/* Links children, in order: nodes sorted lightest last, each put before its parent's list. */
static void link_children(struct named_tree *t)
{
	uint32_t *order = xmalloc(t->nodes.count * sizeof(*order));

	for (uint32_t i = 0; i < t->nodes.count; i++)
		order[i] = i;
	qsort_r(order, t->nodes.count, sizeof(*order), compare_nodes, t->nodes.items);
	for (size_t i = t->nodes.count; i-- > 0;) {
		struct named_node *node = &t->nodes.items[order[i]];

		if (order[i] == TREE_ROOT)
			continue;
		node->next = t->nodes.items[node->parent].first_child;
		t->nodes.items[node->parent].first_child = order[i];
	}
	free(order);
}

static void planting_done(struct planting *g)
{
	id_table_done(&g->index);
	vec_done(&g->keys);
	vec_done(&g->depths);
	rounds_done(&g->rounds);
	free(g->places);
	free(g->planted);
}

int named_tree_new(struct named_tree **out, const struct named_selection *s, struct error *err)
{
	struct planting g = {.tree = xcalloc(1, sizeof(*g.tree)), .selection = s};
	int ret;

	g.places = xcalloc(s->n->paths.count + 1, sizeof(*g.places));
	g.planted = xcalloc(s->n->paths.count + 1, sizeof(*g.planted));
	vec_each (o, &s->n->owners)
		g.processes |= o->process != 0;
	plant_root(&g);
	ret = plant_rows(&g, err);
	for (size_t i = 0; i < g.tree->nodes.count; i++) {
		g.tree->nodes.items[i].levels = g.rounds.nodes.items[i].levels;
		g.tree->nodes.items[i].round = g.rounds.nodes.items[i].round;
	}
	sum_up(g.tree, s);
	link_children(g.tree);
	planting_done(&g);
	if (ret) {
		named_tree_free(g.tree);
		return ret;
	}
	*out = g.tree;
	return 0;
}

void named_tree_free(struct named_tree *t)
{
	if (!t)
		return;
	vec_done(&t->nodes);
	free(t);
}

bool named_tree_shown(const struct named_tree *t, const struct named_node *node, double limit)
{
	double share = node->share < 0 ? -node->share : node->share;

	/* Rounds of a recursion leave nodes that nothing ended in. */
	if (node != t->nodes.items && !node->total && node->first_child == NAMED_NONE)
		return false;
	return share >= limit || node == t->nodes.items;
}
