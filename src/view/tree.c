/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree.h"

#include <string.h>

struct node_key {
	uint32_t parent, process;
	uint64_t function; /* 0: the process itself */
};

/* From (parent, function) to node, and from (process, path) to node. */
struct planting {
	struct tree *tree;
	struct id_table index;
	struct id_table memo;
	VEC(struct node_key) keys; /* per tree node */
	VEC(struct node_key) memo_keys;
	VEC(uint32_t) memo_nodes;
};

static bool key_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct planting *g = ctx;

	return !memcmp(&g->keys.items[id], key, sizeof(struct node_key));
}

static bool memo_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct planting *g = ctx;

	return !memcmp(&g->memo_keys.items[id], key, sizeof(struct node_key));
}

static uint32_t node_add(struct planting *g, uint32_t parent, uint32_t process, uint32_t frame)
{
	struct view *v = g->tree->view;
	struct node_key key = {.parent = parent, .process = process};
	struct tree_node *node;
	uint64_t hash;
	uint32_t id;

	if (frame != ID_NONE) {
		const struct symbol *symbol = view_function(v, frame);

		key.function = symbol->named ? (uint64_t)(uintptr_t)symbol
		                             : v->profile->frames.items[frame].frame.image + 1;
	}
	hash = hash_bytes(&key, sizeof(key));
	id = id_table_find(&g->index, hash, key_equal, g, &key);
	if (id != ID_NONE)
		return id;
	id = (uint32_t)g->tree->nodes.count;
	id_table_add(&g->index, hash, id);
	vec_push(&g->keys, key);
	node = vec_add(&g->tree->nodes);
	node->parent = parent;
	node->process = process;
	node->frame = frame;
	node->first_child = node->next = ID_NONE;
	return id;
}

static uint32_t memo_find(struct planting *g, uint32_t process, uint32_t path)
{
	struct node_key key = {.parent = path, .process = process};
	uint32_t id = id_table_find(&g->memo, hash_bytes(&key, sizeof(key)), memo_equal, g, &key);

	return id == ID_NONE ? ID_NONE : g->memo_nodes.items[id];
}

static void memo_add(struct planting *g, uint32_t process, uint32_t path, uint32_t node)
{
	struct node_key key = {.parent = path, .process = process};

	id_table_add(&g->memo, hash_bytes(&key, sizeof(key)), (uint32_t)g->memo_nodes.count);
	vec_push(&g->memo_keys, key);
	vec_push(&g->memo_nodes, node);
}

/* The tree's node of a path: up to the first ancestor that is known, and down again. */
static uint32_t plant(struct planting *g, uint32_t process, uint32_t path)
{
	const struct profile *p = g->tree->view->profile;
	VEC(uint32_t) way = {0};
	uint32_t node = ID_NONE;

	for (uint32_t n = path; n != PATH_ROOT; n = p->paths.items[n].parent) {
		node = memo_find(g, process, n);
		if (node != ID_NONE)
			break;
		vec_push(&way, n);
	}
	if (node == ID_NONE)
		node = node_add(g, TREE_ROOT, process, ID_NONE);
	for (size_t i = way.count; i-- > 0;) {
		node = node_add(g, node, process, p->paths.items[way.items[i]].frame);
		memo_add(g, process, way.items[i], node);
	}
	vec_done(&way);
	return node;
}

static void add_row(struct planting *g, uint32_t id, bool wait)
{
	struct view *v = g->tree->view;
	const struct profile_row *row = &v->profile->rows.items[id];
	struct tree_node *nodes;
	uint32_t node = plant(g, view_process(v, row)->name, row->path);

	nodes = g->tree->nodes.items;
	if (!wait) {
		nodes[node].self_samples += row->samples;
		nodes[node].self_weight += row->weight;
	}
	for (;; node = nodes[node].parent) {
		if (wait) {
			nodes[node].runnable_ns += row->runnable_ns;
			nodes[node].blocked_ns += row->blocked_ns;
		} else {
			nodes[node].samples += row->samples;
			nodes[node].weight += row->weight;
		}
		if (node == TREE_ROOT)
			break;
	}
}

static int compare_nodes(const void *a, const void *b, void *ctx)
{
	const struct tree_node *nodes = ctx;
	const struct tree_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
	uint64_t wx = x->runnable_ns + x->blocked_ns, wy = y->runnable_ns + y->blocked_ns;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (wx != wy)
		return wx < wy ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Links children, in order: nodes sorted lightest last, each put before its parent's list. */
static void link_children(struct tree *t)
{
	uint32_t *order = xmalloc(t->nodes.count * sizeof(*order));

	for (uint32_t i = 0; i < t->nodes.count; i++)
		order[i] = i;
	qsort_r(order, t->nodes.count, sizeof(*order), compare_nodes, t->nodes.items);
	for (size_t i = t->nodes.count; i-- > 0;) {
		struct tree_node *node = &t->nodes.items[order[i]];

		if (order[i] == TREE_ROOT)
			continue;
		node->next = t->nodes.items[node->parent].first_child;
		t->nodes.items[node->parent].first_child = order[i];
	}
	free(order);
}

static double share_of(const struct selection *s, uint64_t weight, uint64_t samples)
{
	if (s->base_weight)
		return (double)weight / (double)s->base_weight;
	return s->base_samples ? (double)samples / (double)s->base_samples : 0;
}

struct tree *tree_new(struct view *v, const struct selection *s)
{
	struct tree *t = xcalloc(1, sizeof(*t));
	struct planting g = {.tree = t};

	t->view = v;
	node_add(&g, ID_NONE, ID_NONE, ID_NONE); /* the root's key is no other node's */
	t->nodes.items[TREE_ROOT].parent = TREE_ROOT;
	vec_each (id, &s->rows)
		add_row(&g, *id, false);
	vec_each (id, &s->waits)
		add_row(&g, *id, true);
	t->has_waits = s->waits.count > 0;
	link_children(t);
	vec_each (node, &t->nodes) {
		node->share = share_of(s, node->weight, node->samples);
		node->self_share = share_of(s, node->self_weight, node->self_samples);
	}
	id_table_done(&g.index);
	id_table_done(&g.memo);
	vec_done(&g.keys);
	vec_done(&g.memo_keys);
	vec_done(&g.memo_nodes);
	return t;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	vec_done(&t->nodes);
	free(t);
}

bool tree_shown(const struct tree *t, const struct tree_node *node, double limit)
{
	const struct tree_node *root = &t->nodes.items[TREE_ROOT];
	uint64_t waits = root->runnable_ns + root->blocked_ns;

	return node->share >= limit ||
	       (waits && (double)(node->runnable_ns + node->blocked_ns) >= limit * (double)waits);
}

const char *tree_name(const struct tree *t, const struct tree_node *node)
{
	const struct symbol *symbol;

	if (node->process == ID_NONE)
		return "all";
	if (node->frame == ID_NONE)
		return process_table_name(t->view->profile->processes, node->process);
	symbol = view_function(t->view, node->frame);
	return symbol->named ? symbol->name : "[no symbol]";
}
