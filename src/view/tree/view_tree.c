/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/view_tree.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <string.h>

#define OWNER (UINT64_C(1) << 63) /* marks the step of an owner */

static uint32_t path_parent(void *of, uint32_t path)
{
	struct view_tree *t = of;

	return t->model->parent(t->ctx, path);
}

static void path_steps(void *of, uint32_t path, struct tree_builder_steps *out)
{
	struct view_tree *t = of;

	t->model->steps(t->ctx, path, out);
}

static void add_node(void *of, struct tree_link branch, const struct tree_builder_step *step)
{
	struct view_tree *t = of;
	struct view_node node = {.branch = branch, .owner = ID_NONE};

	if (step) {
		node.step.function = step->function;
		node.step.name = step->name;
		node.step.of = step->of;
		node.step.inlined = step->inlined;
		node.is_owner = branch.parent == TREE_ROOT && step->function & OWNER &&
		                step->function != UINT64_MAX;
		node.owner = node.is_owner ? (uint32_t)step->function
		                           : t->nodes.items[branch.parent].owner;
	}
	vec_push(&t->nodes, node);
	for (size_t m = 0; m < t->measures; m++)
		vec_push(&t->self, (union view_value){0});
}

static const struct tree_source builder = {path_parent, path_steps, add_node};

struct view_tree *view_tree_new(const struct view_tree_model *model, void *ctx, size_t paths,
                                size_t measures)
{
	struct view_tree *t = xcalloc(1, sizeof(*t));

	t->model = model;
	t->ctx = ctx;
	t->measures = measures;
	t->source = row_source_new(t);
	tree_builder_begin(&t->builder, &builder, t, paths);
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

void view_tree_whole(struct view_tree *t)
{
	t->builder.whole = true;
}

uint32_t view_tree_owner(struct view_tree *t, uint32_t owner, const char *name)
{
	const struct tree_builder_step step = {
	        .function = OWNER | owner, .name = name, .of = ID_NONE};

	return tree_builder_node(&t->builder, TREE_ROOT, &step);
}

uint32_t view_tree_at(struct view_tree *t, uint32_t owner, uint32_t first, uint32_t path)
{
	return tree_builder_add_path(&t->builder, owner, first, path);
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
		union view_value *above = &t->total[node->branch.parent * t->measures];

		for (size_t m = 0; m < t->measures; m++) {
			node->empty &= cell_is_zero(view_tree_self_of(t, (uint32_t)i, m));
			if (i != TREE_ROOT)
				add(t, &above[m], m, total[m]);
		}
		t->nodes.items[node->branch.parent].empty &= node->empty;
	}
}

void view_tree_finish(struct view_tree *t, const char *const *by, size_t count)
{
	struct row_order o;

	tree_builder_end(&t->builder, TREE_LINKS(&t->nodes));
	sum_up(t);
	t->source->rows = (uint32_t)t->nodes.count;
	row_order_init(&o, t->source, by, count, count);
	tree_links_link(TREE_LINKS(&t->nodes), row_order_compare, &o);
	row_order_done(&o);
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

bool view_tree_shown(const struct view_tree *t, uint32_t node, double limit)
{
	struct buf text = {0};
	bool shown = false;

	if (node == TREE_ROOT)
		return true;
	if (t->nodes.items[node].empty)
		return false;
	if (limit <= 0)
		return true;
	if (t->source->worth)
		return t->source->worth(t->source, node, limit);
	vec_each (c, &t->source->columns)
		if (c->cut && !shown)
			shown = fabs(cell_number(row_cell(t->source, c, node, &text))) >= limit;
	buf_done(&text);
	return shown;
}
