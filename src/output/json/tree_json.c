/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/json/tree_json.h"

#include "base/memory/vec.h"

static void recursion(struct json *j, const struct view_node *node)
{
	if (!node->levels)
		return;
	json_ku64(j, "recursion", node->levels);
	json_ku64(j, "recursion_functions", node->round);
}

static void put_id(struct json *j, uint32_t id, uint32_t parent)
{
	json_ku64(j, "id", id);
	json_key(j, "parent");
	if (parent == ID_NONE)
		json_null(j);
	else
		json_u64(j, parent);
}

/* The state while a tree is written. */
struct tree_json_writing {
	struct json *j;
	bool nested;
	unsigned open;      /* nested: open objects */
	uint32_t written;   /* number of nodes written, if callers are named by id */
	VEC(uint32_t) ways; /* ids of the current node and its callers, from the root */
};

static void close_down_to(struct tree_json_writing *t, unsigned depth)
{
	for (; t->open > depth; t->open--) {
		json_end_array(t->j);
		json_end_object(t->j);
	}
}

static void begin_node(struct tree_json_writing *t, unsigned depth)
{
	if (t->nested)
		close_down_to(t, depth);
	json_object(t->j);
	if (t->nested)
		return;
	t->ways.count = depth;
	put_id(t->j, t->written, depth ? *vec_last(&t->ways) : ID_NONE);
	vec_push(&t->ways, t->written++);
}

static void end_node(struct tree_json_writing *t)
{
	if (!t->nested) {
		json_end_object(t->j);
		return;
	}
	json_key(t->j, "children");
	json_array(t->j);
	t->open++;
}

void tree_json(struct json *j, const struct section *s,
               void (*keys)(void *ctx, const struct view_tree *t, uint32_t node), void *ctx,
               bool nested)
{
	struct tree_json_writing t = {.j = j, .nested = nested};
	struct view_tree_walk w = {0};
	bool shown;

	if (!nested)
		json_array(j);
	do {
		shown = view_tree_shown(s->tree, w.node, s->limit);
		if (!shown)
			continue;
		begin_node(&t, w.depth);
		keys(ctx, s->tree, w.node);
		recursion(j, &s->tree->nodes.items[w.node]);
		end_node(&t);
	} while (view_tree_step(s->tree, &w, shown));
	close_down_to(&t, 0);
	if (!nested)
		json_end_array(j);
	vec_done(&t.ways);
}
