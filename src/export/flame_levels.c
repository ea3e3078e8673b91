/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/flame_levels.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define OTHER "other"
#define NO_NODE UINT32_MAX

void flame_levels_init(struct flame_levels *f)
{
	*f = (struct flame_levels){0};
	intern_init(&f->names);
	vec_push(&f->nodes, (struct flame_node){.name = intern_add(&f->names, "total")});
}

void flame_levels_done(struct flame_levels *f)
{
	vec_done(&f->nodes);
	path_tree_done(&f->index);
	intern_done(&f->names);
}

/* ---- the tree ------------------------------------------------------------ */

static uint32_t step(struct flame_levels *f, uint32_t parent, const char *name)
{
	struct flame_node made = {.parent = parent,
	                          .name = intern_add(&f->names, *name ? name : "[unknown]")};
	uint32_t next = (uint32_t)f->nodes.count;
	uint32_t id = path_tree_step(&f->index, parent, made.name, next);

	if (id != next)
		return id;
	made.next = f->nodes.items[parent].first;
	vec_push(&f->nodes, made);
	f->nodes.items[parent].first = next;
	return next;
}

/* The functions of a place, the outermost first: lines begin with the innermost one. */
static uint32_t step_place(struct flame_levels *f, uint32_t parent,
                           const struct symbolized_profile *n, uint32_t place)
{
	const struct named_place *p = &n->places.items[place];

	for (uint32_t i = p->count; i-- > 0;) {
		uint32_t function = n->lines.items[p->first + i].function;

		parent = step(f, parent, intern_text(&n->texts, n->functions.items[function].name));
	}
	return p->count ? parent : step(f, parent, "");
}

/* For each path its node; callers are before callees. */
static uint32_t *add_paths(struct flame_levels *f, const struct symbolized_profile *n)
{
	uint32_t *nodes = xcalloc(n->paths.count + 1, sizeof(*nodes));

	for (uint32_t i = 1; i < n->paths.count; i++) {
		const struct named_path *p = &n->paths.items[i];

		nodes[i] = p->place == NAMED_NONE ? nodes[p->parent]
		                                  : step_place(f, nodes[p->parent], n, p->place);
	}
	return nodes;
}

void flame_levels_add(struct flame_levels *f, unsigned side, const struct symbolized_profile *n,
                      unsigned value)
{
	uint32_t *nodes = add_paths(f, n);

	vec_each (row, &n->rows) {
		struct flame_node *node = &f->nodes.items[nodes[row->path]];

		if (row->values[value] > 0)
			node->self[side] = named_add(node->self[side], row->values[value]);
	}
	free(nodes);
}

static void add_totals(int64_t to[2], const int64_t more[2])
{
	to[0] = named_add(to[0], more[0]);
	to[1] = named_add(to[1], more[1]);
}

/* Children have higher ids than their parents. */
static void sum_up(struct flame_levels *f)
{
	vec_each (node, &f->nodes)
		memcpy(node->total, node->self, sizeof(node->total));
	for (size_t i = f->nodes.count; i-- > 1;) {
		const struct flame_node *node = &f->nodes.items[i];
		struct flame_node *parent = &f->nodes.items[node->parent];

		add_totals(parent->total, node->total);
	}
}

/* ---- levels -------------------------------------------------------------- */

struct level_writer {
	struct flame_levels *f;
	struct querier_writer *w;
	unsigned sides;
	int64_t least; /* bars below it become "other" */
	int64_t self_max;
	uint32_t other;
};

/* A bar of a level; node NO_NODE: the small children of one bar. */
struct flame_bar {
	uint32_t node, name;
	int64_t start[2], total[2], self[2];
};

typedef VEC(struct flame_bar) flame_bars;

static int64_t size_of(const struct flame_node *n)
{
	return n->total[0] > n->total[1] ? n->total[0] : n->total[1];
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

static int64_t least_of(const struct flame_levels *f, int64_t nodes_max)
{
	int64_t *sizes, least;

	if (!nodes_max || (uint64_t)nodes_max >= f->nodes.count)
		return 1;
	sizes = xcalloc(f->nodes.count, sizeof(*sizes));
	for (size_t i = 0; i < f->nodes.count; i++)
		sizes[i] = size_of(&f->nodes.items[i]);
	qsort(sizes, f->nodes.count, sizeof(*sizes), by_size);
	least = sizes[nodes_max - 1];
	free(sizes);
	return least > 1 ? least : 1;
}

/* The children of a bar, from its left end after its own width; the small ones as one bar. */
static void add_children(struct level_writer *l, const struct flame_bar *bar, flame_bars *next)
{
	struct flame_bar other = {.node = NO_NODE, .name = l->other};
	const struct flame_node *n = bar->node == NO_NODE ? NULL : &l->f->nodes.items[bar->node];
	int64_t at[2] = {named_add(bar->start[0], bar->self[0]),
	                 named_add(bar->start[1], bar->self[1])};

	for (uint32_t id = n ? n->first : 0; id; id = n->next) {
		struct flame_bar child = {.node = id};

		n = &l->f->nodes.items[id];
		if (size_of(n) < l->least) {
			add_totals(other.total, n->total);
			continue;
		}
		child.name = n->name;
		memcpy(child.start, at, sizeof(at));
		memcpy(child.total, n->total, sizeof(child.total));
		memcpy(child.self, n->self, sizeof(child.self));
		add_totals(at, n->total);
		vec_push(next, child);
	}
	if (!other.total[0] && !other.total[1])
		return;
	memcpy(other.start, at, sizeof(at));
	memcpy(other.self, other.total, sizeof(other.self));
	vec_push(next, other);
}

static void put_level(struct level_writer *l, const flame_bars *bars)
{
	VEC(int64_t) values = {0};
	int64_t end[2] = {0};

	vec_each (bar, bars) {
		for (unsigned side = 0; side < l->sides; side++) {
			vec_push(&values, bar->start[side] - end[side]);
			vec_push(&values, bar->total[side]);
			vec_push(&values, bar->self[side]);
			end[side] = named_add(bar->start[side], bar->total[side]);
			if (bar->self[side] > l->self_max)
				l->self_max = bar->self[side];
		}
		vec_push(&values, bar->name - 1);
	}
	querier_begin(l->w, 2, NULL);
	querier_numbers(l->w, 1, "values", values.items, values.count);
	querier_end(l->w);
	vec_done(&values);
}

static void put_levels(struct level_writer *l)
{
	const struct flame_node *root = l->f->nodes.items;
	struct flame_bar top = {.name = root->name};
	flame_bars bars = {0};

	memcpy(top.total, root->total, sizeof(top.total));
	memcpy(top.self, root->self, sizeof(top.self));
	vec_push(&bars, top);
	querier_list(l->w, "levels");
	while (bars.count) {
		flame_bars next = {0};

		put_level(l, &bars);
		vec_each (bar, &bars)
			add_children(l, bar, &next);
		vec_done(&bars);
		bars = next;
	}
	querier_list_end(l->w);
	vec_done(&bars);
}

/* Readers expect the root's name at 0. No name is "", the first text of the table. */
static void put_names(struct level_writer *l)
{
	querier_list(l->w, "names");
	for (size_t i = 1; i < l->f->names.texts.count; i++)
		querier_text(l->w, 1, NULL, intern_text(&l->f->names, (uint32_t)i));
	querier_list_end(l->w);
}

void flame_levels_write(struct flame_levels *f, unsigned sides, int64_t nodes_max,
                        struct querier_writer *w)
{
	struct level_writer l = {
	        .f = f, .w = w, .sides = sides, .other = intern_add(&f->names, OTHER)};

	sum_up(f);
	l.least = least_of(f, nodes_max);
	put_names(&l);
	put_levels(&l);
	querier_number(w, 3, "total",
	               named_add(f->nodes.items[0].total[0], f->nodes.items[0].total[1]));
	querier_number(w, 4, "maxSelf", l.self_max);
	if (sides == 1)
		return;
	querier_number(w, 5, "leftTicks", f->nodes.items[0].total[0]);
	querier_number(w, 6, "rightTicks", f->nodes.items[0].total[1]);
}
