/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bottom-up trees of paths with known values: sums, recursion, and very deep paths. */
#include "base/memory/xalloc.h"
#include "check.h"
#include "view/tree/invert_tree.h"

#include <stdlib.h>
#include <string.h>

#define DEEP 20000

static const char *const names[] = {"", "main", "f", "g", "leaf"};
enum { MAIN = 1, F, G, LEAF, OTHERS };

/* Call paths; path 0 is the root. */
struct paths {
	VEC(struct one_path {
		uint32_t parent;
		uint32_t function;
	})
	items;
};

static uint32_t path_parent(void *ctx, uint32_t path)
{
	return ((const struct paths *)ctx)->items.items[path].parent;
}

static void path_steps(void *ctx, uint32_t path, struct tree_builder_steps *out)
{
	uint32_t function = ((const struct paths *)ctx)->items.items[path].function;

	vec_push(&out->all,
	         (struct tree_builder_step){.function = function,
	                                    .again = (uint64_t)function + 1,
	                                    .name = function < OTHERS ? names[function] : NULL,
	                                    .of = function});
}

static uint32_t add_path(struct paths *p, uint32_t parent, uint32_t function)
{
	uint32_t id = (uint32_t)p->items.count;

	vec_push(&p->items, (struct one_path){parent, function});
	return id;
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct view_node *node = &((const struct view_tree *)s->model)->nodes.items[row];

	if (node->name)
		return cell_text(node->name);
	buf_addf(text, "function %u", node->of);
	return cell_text(buf_text(text));
}

static struct view_tree *tree_of(struct paths *p)
{
	static const struct view_tree_model model = {path_parent, path_steps};
	const struct column columns[] = {
	        {.name = "total",
	         .title = "total",
	         .unit = &unit_count,
	         .role = ROLE_TOTAL,
	         .get = view_tree_total},
	        {.name = "self",
	         .title = "self",
	         .unit = &unit_count,
	         .role = ROLE_SUM,
	         .get = view_tree_self},
	        {.name = "calls",
	         .title = "calls",
	         .unit = &unit_count,
	         .role = ROLE_SUM,
	         .get = view_tree_self,
	         .argument = 1},
	        {.name = "name",
	         .title = "tree",
	         .key = "name",
	         .unit = &unit_text,
	         .get = name_cell},
	};
	struct view_tree *t = view_tree_new(&model, p, p->items.count, 2);

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		vec_push(&t->source->columns, columns[i]);
	view_tree_whole(t);
	return t;
}

static void add_value(struct view_tree *t, uint32_t path, int64_t value)
{
	uint32_t node = view_tree_at(t, 0, TREE_ROOT, path);

	view_tree_add(t, node, 0, cell_int(value));
	view_tree_add(t, node, 1, cell_int(1));
}

static void finish(struct view_tree *t)
{
	static const char *const by[] = {"total"};

	invert_tree_columns(t->source, view_tree_self, view_tree_total);
	view_tree_finish(t, by, 1);
}

/* The child with this name, ID_NONE: there is none. */
static uint32_t child(const struct view_tree *t, uint32_t node, const char *name)
{
	uint32_t c = t->nodes.items[node].first_child;

	while (c != ID_NONE && strcmp(t->nodes.items[c].name ? t->nodes.items[c].name : "", name))
		c = t->nodes.items[c].next;
	return c;
}

static int64_t total(const struct view_tree *t, uint32_t node)
{
	return node == ID_NONE ? -1 : view_tree_total_of(t, node, 0).i;
}

static size_t wrong_sums(const struct view_tree *t)
{
	const struct view_node *nodes = t->nodes.items;
	size_t wrong = 0;

	for (uint32_t id = 0; id < t->nodes.count; id++) {
		int64_t sum = view_tree_self_of(t, id, 0).i;

		for (uint32_t c = nodes[id].first_child; c != ID_NONE; c = nodes[c].next)
			sum += total(t, c);
		wrong += sum != total(t, id);
	}
	return wrong;
}

/* main 1 > f 2 > g 3 > leaf 4, and main > leaf 5 */
static void callers_are_below_each_function(void)
{
	struct paths p = {0};
	uint32_t ways[5], leaf, *first;
	struct view_tree *t;

	ways[0] = add_path(&p, 0, 0);
	for (uint32_t i = 1; i < 5; i++)
		ways[i] = add_path(&p, ways[i - 1], i);
	add_path(&p, ways[1], LEAF);
	t = tree_of(&p);
	for (uint32_t i = 1; i < 5; i++)
		add_value(t, ways[i], i);
	add_value(t, (uint32_t)p.items.count - 1, 5);
	invert_tree(t, NULL, &first);
	finish(t);
	CHECK_EQ(total(t, TREE_ROOT), 15);
	CHECK_EQ(wrong_sums(t), 0);
	leaf = child(t, TREE_ROOT, "leaf");
	CHECK_EQ(total(t, leaf), 9);
	CHECK_EQ(t->nodes.items[TREE_ROOT].first_child, leaf);
	CHECK_EQ(total(t, child(t, leaf, "main")), 5);
	CHECK_EQ(total(t, child(t, child(t, child(t, leaf, "g"), "f"), "main")), 4);
	CHECK_EQ(total(t, child(t, TREE_ROOT, "main")), 1);
	CHECK_EQ(first[TREE_ROOT], ID_NONE);
	CHECK_EQ(first[1], child(t, TREE_ROOT, "main"));
	/* Node 5 is main > leaf. */
	CHECK_EQ(first[4], leaf);
	CHECK_EQ(first[5], leaf);
	free(first);
	view_tree_free(t);
	vec_done(&p.items);
}

static void columns_have_the_values_of_the_first_level(void)
{
	struct paths p = {0};
	struct buf text = {0};
	struct view_tree *t;
	uint32_t leaf;

	add_path(&p, 0, 0);
	add_path(&p, add_path(&p, 0, MAIN), LEAF);
	t = tree_of(&p);
	add_value(t, 2, 7);
	invert_tree(t, NULL, NULL);
	finish(t);
	leaf = child(t, TREE_ROOT, "leaf");
	CHECK_STR(column_named(t->source, "total")->title, "self");
	CHECK(!column_named(t->source, "self")->title);
	CHECK_EQ(row_cell(t->source, column_named(t->source, "total"), leaf, &text).i, 7);
	CHECK_EQ(row_cell(t->source, column_named(t->source, "calls"), leaf, &text).i, 1);
	buf_done(&text);
	view_tree_free(t);
	vec_done(&p.items);
}

static void own_values_of_the_root_stay_or_have_a_node(void)
{
	static const struct tree_builder_step outside = {
	        .function = UINT32_MAX, .name = "(outside)", .of = ID_NONE};

	for (int with_step = 0; with_step < 2; with_step++) {
		struct paths p = {0};
		struct view_tree *t;

		add_path(&p, 0, 0);
		add_path(&p, 0, MAIN);
		t = tree_of(&p);
		add_value(t, 1, 2);
		view_tree_add(t, TREE_ROOT, 0, cell_int(3));
		invert_tree(t, with_step ? &outside : NULL, NULL);
		finish(t);
		CHECK_EQ(total(t, TREE_ROOT), 5);
		CHECK_EQ(view_tree_self_of(t, TREE_ROOT, 0).i, with_step ? 0 : 3);
		CHECK_EQ(total(t, child(t, TREE_ROOT, "(outside)")), with_step ? 3 : -1);
		CHECK_EQ(wrong_sums(t), 0);
		view_tree_free(t);
		vec_done(&p.items);
	}
}

/* f calls itself DEEP times, and each call has a value. */
static void deep_recursion_is_one_node(void)
{
	struct paths p = {0};
	struct view_tree *t;
	uint32_t path, f;

	add_path(&p, 0, 0);
	path = add_path(&p, 0, MAIN);
	for (size_t i = 0; i < DEEP; i++)
		path = add_path(&p, path, F);
	t = tree_of(&p);
	for (uint32_t i = 2; i < p.items.count; i++)
		add_value(t, i, i == p.items.count - 1 ? 2 : 1);
	invert_tree(t, NULL, NULL);
	finish(t);
	f = child(t, TREE_ROOT, "f");
	CHECK_EQ(total(t, f), DEEP + 1);
	/* The largest value comes first, so its path is read whole. */
	CHECK_EQ(t->nodes.items[f].levels, DEEP);
	CHECK(child(t, f, "main") != ID_NONE);
	CHECK_EQ(wrong_sums(t), 0);
	view_tree_free(t);
	vec_done(&p.items);
}

static void deep_paths_end_at_the_outermost_function(void)
{
	struct paths p = {0};
	struct view_tree *t;
	uint32_t path, node = TREE_ROOT, depth = 0;

	add_path(&p, 0, 0);
	path = add_path(&p, 0, MAIN);
	for (uint32_t i = 0; i < DEEP; i++)
		path = add_path(&p, path, OTHERS + i);
	t = tree_of(&p);
	add_value(t, path, 7);
	invert_tree(t, NULL, NULL);
	finish(t);
	while (t->nodes.items[node].first_child != ID_NONE) {
		node = t->nodes.items[node].first_child;
		CHECK_EQ(total(t, node), 7);
		depth++;
	}
	CHECK_STR(t->nodes.items[node].name, "main");
	CHECK_STR(t->nodes.items[t->nodes.items[node].parent].name, "[deeper]");
	CHECK_EQ(depth, TREE_DEPTH_MAX + 2);
	view_tree_free(t);
	vec_done(&p.items);
}

int main(void)
{
	RUN(callers_are_below_each_function);
	RUN(columns_have_the_values_of_the_first_level);
	RUN(own_values_of_the_root_stay_or_have_a_node);
	RUN(deep_recursion_is_one_node);
	RUN(deep_paths_end_at_the_outermost_function);
	return check_end();
}
