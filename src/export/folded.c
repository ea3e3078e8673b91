/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/folded.h"

#include "base/memory/path_tree.h"
#include "base/text/plural.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A path of names: paths that differ only in lines and addresses have the same path of names. */
struct folded_node {
	uint32_t parent, name;
};

/* The contents of one output line. */
struct folded_item {
	uint32_t process, node;
	int64_t value;
};

struct folding {
	const struct symbolized_profile *n;
	struct spill *out;
	VEC(struct folded_node) nodes; /* [0] is the root */
	struct path_tree index;
	VEC(struct folded_item) items;
	VEC(uint32_t) way; /* scratch: names from the innermost outward */
	unsigned decimals; /* of the values, whose unit is 1/one */
	int64_t one;
};

static uint32_t node_child(struct folding *f, uint32_t parent, uint32_t name)
{
	uint32_t next = (uint32_t)f->nodes.count;
	uint32_t id = path_tree_step(&f->index, parent, name, next);

	if (id == next)
		vec_push(&f->nodes, (struct folded_node){parent, name});
	return id;
}

/* The node of each path; callers come before callees. The caller frees it. */
static uint32_t *name_paths(struct folding *f)
{
	const struct symbolized_profile *n = f->n;
	uint32_t *nodes = xcalloc(n->paths.count, sizeof(*nodes));

	vec_push(&f->nodes, (struct folded_node){NAMED_NONE, 0});
	for (size_t p = 1; p < n->paths.count; p++) {
		const struct named_place *place = &n->places.items[n->paths.items[p].place];
		uint32_t node = nodes[n->paths.items[p].parent];

		/* A place has its innermost inlined function first; in the line it comes last. */
		for (uint32_t i = place->count; i-- > 0;) {
			uint32_t function = n->lines.items[place->first + i].function;

			node = node_child(f, node, n->functions.items[function].name);
		}
		nodes[p] = node;
	}
	return nodes;
}

static int compare_items(const void *pa, const void *pb)
{
	const struct folded_item *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Sorts by process and path, and sums equal items. */
static struct named_below gather(struct folding *f, unsigned columns)
{
	const struct symbolized_profile *n = f->n;
	uint32_t *nodes = name_paths(f);
	struct named_below below = {0};
	size_t kept = 0;

	vec_each (row, &n->rows)
		vec_push(&f->items,
		         (struct folded_item){n->owners.items[row->owner].process, nodes[row->path],
		                              named_row_sum(row, columns)});
	free(nodes);
	if (f->items.count)
		qsort(f->items.items, f->items.count, sizeof(struct folded_item), compare_items);
	for (size_t i = 0; i < f->items.count; i++) {
		struct folded_item *item = &f->items.items[i],
		                   *last = &f->items.items[kept - !!kept];

		if (kept && !compare_items(last, item))
			last->value = named_add(last->value, item->value);
		else
			f->items.items[kept++] = *item;
	}
	f->items.count = kept;
	vec_each (item, &f->items) {
		below.rows += item->value < 0;
		below.sum = named_add(below.sum, item->value < 0 ? item->value : 0);
	}
	return below;
}

/* `begin`: offset of the line's start. */
static void put_frame(struct folding *f, size_t begin, uint32_t text)
{
	struct buf *b = &f->out->buf;
	size_t from;

	if (b->size > begin)
		buf_putc(b, ';');
	from = b->size;
	buf_puts(b, intern_text(&f->n->texts, text));
	for (size_t i = from; i < b->size; i++)
		if (b->data[i] == ';')
			b->data[i] = ':';
}

static void put_item(struct folding *f, const struct folded_item *item)
{
	struct buf *b = &f->out->buf;
	size_t begin = b->size;

	f->way.count = 0;
	for (uint32_t i = item->node; i; i = f->nodes.items[i].parent)
		vec_push(&f->way, f->nodes.items[i].name);
	if (item->process)
		put_frame(f, begin, item->process);
	while (f->way.count)
		put_frame(f, begin, f->way.items[--f->way.count]);
	if (b->size == begin)
		buf_puts(b, "[no call path]");
	buf_addf(b, " %" PRId64, item->value / f->one);
	if (f->decimals)
		buf_addf(b, ".%0*" PRId64, (int)f->decimals, item->value % f->one);
	buf_putc(b, '\n');
	spill_some(f->out);
}

struct named_below folded_write(const struct symbolized_profile *n, unsigned columns,
                                struct spill *out)
{
	struct folding f = {.n = n, .out = out, .one = 1};
	struct named_below below = gather(&f, columns);

	if (columns)
		f.decimals = named_decimals(&n->values[__builtin_ctz(columns)]);
	for (unsigned i = 0; i < f.decimals; i++)
		f.one *= 10;
	if (below.rows) /* a number at the end would make the line a path */
		buf_addf(&out->buf,
		         "# left out: %" PRIu64 " %s with %" PRId64
		         " together, which %s negative\n",
		         below.rows, plural(below.rows, "path", "paths"), below.sum,
		         plural(below.rows, "is", "are"));
	vec_each (item, &f.items)
		if (item->value > 0)
			put_item(&f, item);
	vec_done(&f.nodes);
	path_tree_done(&f.index);
	vec_done(&f.items);
	vec_done(&f.way);
	return below;
}
