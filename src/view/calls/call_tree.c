/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_tree.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

/* The largest number of functions calling each other that is folded as a recursion. */
#define ROUND_MAX 8

struct node_key {
	uint32_t parent, function;
};

struct call_tree_planting {
	struct call_tree *tree;
	const struct call_process *process;
	struct id_table index; /* (parent, function) to node */
	uint32_t *node_of;     /* per path */
	VEC(uint32_t) active;  /* per node: number of its calls on the current path */
};

static bool key_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct call_tree *t = ctx;
	const struct node_key *k = key;

	return t->nodes.items[id].branch.parent == k->parent &&
	       t->nodes.items[id].function == k->function;
}

static uint32_t node_at(struct call_tree_planting *g, uint32_t parent, uint32_t function)
{
	struct node_key key = {parent, function};
	uint64_t hash = hash_pair(parent, function);
	uint32_t id = id_table_find(&g->index, hash, key_equal, g->tree, &key);
	struct call_node *node;

	if (id != ID_NONE)
		return id;
	id = (uint32_t)g->tree->nodes.count;
	node = vec_add(&g->tree->nodes);
	node->branch = branch_below(parent);
	node->function = function;
	vec_push(&g->active, 0);
	/* The root is not in the index: it cannot be its own child. */
	if (id)
		id_table_add(&g->index, hash, id);
	return id;
}

/* The node that takes the path's figures; `parent` is the node of the path's caller. */
static uint32_t node_below(struct call_tree_planting *g, uint32_t parent, uint32_t function)
{
	uint32_t above = parent;

	for (uint32_t round = 1; round <= ROUND_MAX && above; round++) {
		struct call_node *node = &g->tree->nodes.items[above];

		if (node->function == function) {
			node->branch.round =
			        round > node->branch.round ? round : node->branch.round;
			return above;
		}
		above = node->branch.parent;
	}
	return node_at(g, parent, function);
}

static void enter(void *ctx, uint32_t id)
{
	struct call_tree_planting *g = ctx;
	const struct call_path *path = &g->process->paths.items[id];
	uint32_t at = id ? node_below(g, g->node_of[path->parent], path->function)
	                 : node_at(g, 0, path->function);
	struct call_node *node = &g->tree->nodes.items[at];
	uint32_t deep = ++g->active.items[at];

	g->node_of[id] = at;
	if (deep > 1 && deep > node->branch.levels)
		node->branch.levels = deep;
	node->calls += path->calls;
	node->open += path->open;
	node->net_ns += path->net_ns;
	node->blocked_ns += path->blocked_ns;
	node->preempted_ns += path->preempted_ns;
	node->inherited |= path->inherited;
}

static void leave(void *ctx, uint32_t id)
{
	struct call_tree_planting *g = ctx;

	g->active.items[g->node_of[id]]--;
}

static void sum_up(struct call_tree *t)
{
	for (size_t i = t->nodes.count; i--;) {
		struct call_node *node = &t->nodes.items[i];
		struct call_node *parent = &t->nodes.items[node->branch.parent];

		node->total_ns += node->net_ns;
		node->total_blocked_ns += node->blocked_ns;
		node->total_preempted_ns += node->preempted_ns;
		if (!i)
			break;
		parent->total_ns += node->total_ns;
		parent->total_blocked_ns += node->total_blocked_ns;
		parent->total_preempted_ns += node->total_preempted_ns;
	}
}

static int by_total(const void *pa, const void *pb, void *ctx)
{
	const struct call_tree *t = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	double x = t->nodes.items[a].total_ns, y = t->nodes.items[b].total_ns;

	return x < y ? 1 : x > y ? -1 : (a > b) - (a < b);
}

struct call_tree *call_tree_new(const struct call_process *p)
{
	struct call_tree *t = xcalloc(1, sizeof(*t));
	struct call_tree_planting g = {.tree = t, .process = p};

	if (!p->paths.count)
		return t;
	g.node_of = xcalloc(p->paths.count, sizeof(*g.node_of));
	call_process_walk(p, enter, leave, &g);
	sum_up(t);
	branches_link(BRANCHES(&t->nodes), by_total, t);
	id_table_done(&g.index);
	vec_done(&g.active);
	free(g.node_of);
	return t;
}

void call_tree_free(struct call_tree *t)
{
	if (!t)
		return;
	vec_done(&t->nodes);
	free(t);
}

bool call_tree_shown(const struct call_tree *t, const struct call_node *node, double limit)
{
	const struct call_node *root = t->nodes.items;
	double waiting = node->total_blocked_ns + node->total_preempted_ns;
	double all = root->total_blocked_ns + root->total_preempted_ns;

	/* The node has no calls, no time and no children. */
	if (!node->calls && !node->open && node->branch.first_child == CALL_PATH_NONE &&
	    node->total_ns == 0 && waiting == 0 && node != root)
		return false;
	return limit <= 0 || node->total_ns >= limit * root->total_ns ||
	       (all > 0 && waiting >= limit * all);
}
