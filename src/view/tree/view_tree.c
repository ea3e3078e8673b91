/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/view_tree.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OWNER (UINT64_C(1) << 63) /* marks the step of an owner */

void view_tree_add_node(struct view_tree *t, uint32_t parent, const struct tree_builder_step *step)
{
	struct view_node node = {.parent = parent,
	                         .first_child = ID_NONE,
	                         .next = ID_NONE,
	                         .owner = ID_NONE,
	                         .function = step->function,
	                         .name = step->name,
	                         .of = step->of,
	                         .inlined = step->inlined};

	node.is_owner = t->nodes.count && parent == TREE_ROOT && step->function & OWNER &&
	                step->function != UINT64_MAX;
	if (node.is_owner)
		node.owner = (uint32_t)step->function;
	else if (t->nodes.count)
		node.owner = t->nodes.items[parent].owner;
	vec_push(&t->nodes, node);
	for (size_t m = 0; m < t->measures; m++)
		vec_push(&t->self, (union view_value){0});
}

struct view_tree *view_tree_new(const struct view_tree_model *model, void *ctx, size_t paths,
                                size_t measures)
{
	struct view_tree *t = xcalloc(1, sizeof(*t));

	t->model = model;
	t->ctx = ctx;
	t->measures = measures;
	t->source = row_source_new(t);
	tree_builder_begin(t, paths);
	return t;
}

void view_tree_free(struct view_tree *t)
{
	if (!t)
		return;
	vec_done(&t->nodes);
	vec_done(&t->self);
	free(t->total);
	row_source_free(t->source);
	if (t->free)
		t->free(t->ctx);
	free(t);
}

void view_tree_reserve(struct view_tree *t, size_t nodes)
{
	vec_reserve(&t->nodes, t->nodes.count + nodes);
	vec_reserve(&t->self, t->self.count + nodes * t->measures);
	tree_builder_reserve(t, nodes);
}

void view_tree_whole(struct view_tree *t)
{
	t->builder.whole = true;
}

uint32_t view_tree_owner(struct view_tree *t, uint32_t owner, const char *name)
{
	const struct tree_builder_step step = {
	        .function = OWNER | owner, .name = name, .of = ID_NONE};

	return tree_builder_node(t, TREE_ROOT, &step);
}

uint32_t view_tree_at(struct view_tree *t, uint32_t owner, uint32_t first, uint32_t path)
{
	return tree_builder_add_path(t, owner, first, path);
}

static struct cell cell_of(const struct view_tree *t, union view_value value, size_t measure)
{
	return t->real >> measure & 1 ? cell_real(value.d) : cell_int(value.i);
}

static void add(const struct view_tree *t, union view_value *to, size_t measure,
                union view_value value)
{
	if (t->real >> measure & 1)
		to->d += value.d;
	else if (__builtin_add_overflow(to->i, value.i, &to->i))
		to->i = value.i < 0 ? INT64_MIN : INT64_MAX;
}

void view_tree_add(struct view_tree *t, uint32_t node, size_t measure, struct cell value)
{
	union view_value plain = {.i = value.i};

	if (value.kind == CELL_REAL) {
		plain.d = value.d;
		t->real |= UINT32_C(1) << measure;
	}
	add(t, &t->self.items[node * t->measures + measure], measure, plain);
}

/* Callees come after their callers: going backwards, each node is complete when it is added to its
 * parent. */
static void sum_up(struct view_tree *t)
{
	size_t size = t->nodes.count * t->measures * sizeof(*t->total);

	t->total = xrealloc(NULL, 1, size + 1);
	memcpy(t->total, t->self.items, size);
	for (size_t i = 0; i < t->nodes.count; i++)
		t->nodes.items[i].empty = true;
	for (size_t i = t->nodes.count; i-- > 0;) {
		struct view_node *node = &t->nodes.items[i];
		union view_value *total = &t->total[i * t->measures];
		union view_value *above = &t->total[node->parent * t->measures];

		for (size_t m = 0; m < t->measures; m++) {
			node->empty &= cell_is_zero(view_tree_self_of(t, (uint32_t)i, m));
			if (i != TREE_ROOT)
				add(t, &above[m], m, total[m]);
		}
		t->nodes.items[node->parent].empty &= node->empty;
	}
}

/* Puts the nodes into `order`, siblings in succession; returns their number. The root is left out.
 */
static size_t by_parent(const struct view_tree *t, uint32_t *order)
{
	uint32_t count = (uint32_t)t->nodes.count, *starts = xcalloc(count + 2, sizeof(*starts));

	for (uint32_t i = 1; i < count; i++)
		starts[t->nodes.items[i].parent + 2]++;
	for (size_t i = 2; i < count + 2; i++)
		starts[i] += starts[i - 1];
	for (uint32_t i = 1; i < count; i++)
		order[starts[t->nodes.items[i].parent + 1]++] = i;
	free(starts);
	return count - 1;
}

static void link_children(struct view_tree *t, struct row_order *by)
{
	struct view_node *nodes = t->nodes.items;
	uint32_t *order = xcalloc(t->nodes.count, sizeof(*order));
	size_t count = by_parent(t, order), end;

	for (size_t first = 0; first < count; first = end) {
		uint32_t parent = nodes[order[first]].parent;

		for (end = first + 1; end < count && nodes[order[end]].parent == parent;)
			end++;
		if (end - first > 1)
			qsort_r(&order[first], end - first, sizeof(*order), row_order_compare, by);
		nodes[parent].first_child = order[first];
		for (size_t i = first; i + 1 < end; i++)
			nodes[order[i]].next = order[i + 1];
	}
	free(order);
}

void view_tree_finish(struct view_tree *t, const char *const *by, size_t count)
{
	struct row_order o;

	tree_builder_end(&t->builder);
	sum_up(t);
	t->source->rows = (uint32_t)t->nodes.count;
	row_order_init(&o, t->source, by, count, count);
	link_children(t, &o);
	row_order_done(&o);
}

bool view_tree_step(const struct view_tree *t, struct view_tree_walk *w, bool into)
{
	const struct view_node *nodes = t->nodes.items;

	if (into && nodes[w->node].first_child != ID_NONE) {
		w->node = nodes[w->node].first_child;
		w->depth++;
		return true;
	}
	while (w->node != TREE_ROOT && nodes[w->node].next == ID_NONE) {
		w->node = nodes[w->node].parent;
		w->depth--;
	}
	if (w->node == TREE_ROOT)
		return false;
	w->node = nodes[w->node].next;
	return true;
}

struct cell view_tree_self_of(const struct view_tree *t, uint32_t node, size_t measure)
{
	return cell_of(t, t->self.items[node * t->measures + measure], measure);
}

struct cell view_tree_total_of(const struct view_tree *t, uint32_t node, size_t measure)
{
	return cell_of(t, t->total[node * t->measures + measure], measure);
}

struct cell view_tree_self(const struct row_source *s, const struct column *c, uint32_t row,
                           struct buf *text)
{
	return view_tree_self_of(s->model, row, c->argument);
}

struct cell view_tree_total(const struct row_source *s, const struct column *c, uint32_t row,
                            struct buf *text)
{
	return view_tree_total_of(s->model, row, c->argument);
}

bool view_tree_is_removed(const struct view_tree *t, uint32_t node)
{
	return t->removed && t->nodes.items[node].is_owner &&
	       t->nodes.items[node].owner == t->removed;
}

bool view_tree_shown(const struct view_tree *t, uint32_t node, double limit)
{
	struct buf text = {0};
	bool shown = false;

	if (node == TREE_ROOT)
		return true;
	if (t->nodes.items[node].empty)
		return false;
	if (limit <= 0 || view_tree_is_removed(t, node))
		return true;
	if (t->source->worth)
		return t->source->worth(t->source, node, limit);
	vec_each (c, &t->source->columns) {
		double all;

		if (!c->cut || shown)
			continue;
		all = fabs(cell_number(row_cell(t->source, c, TREE_ROOT, &text)));
		shown = fabs(cell_number(row_cell(t->source, c, node, &text))) >=
		        limit * fmin(all, 1);
	}
	buf_done(&text);
	return shown;
}
