/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/tree_links.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

struct tree_link tree_link_below(uint32_t parent)
{
	return (struct tree_link){.parent = parent, .first_child = ID_NONE, .next = ID_NONE};
}

struct tree_link *tree_link_at(struct tree_links b, uint32_t node)
{
	return (struct tree_link *)((char *)b.nodes + node * b.size);
}

/* Puts the nodes into `order`, siblings in succession; returns their number. The root is left out.
 */
static size_t by_parent(struct tree_links b, uint32_t *order)
{
	uint32_t *starts = xcalloc(b.count + 2, sizeof(*starts));

	for (uint32_t i = 1; i < b.count; i++)
		starts[tree_link_at(b, i)->parent + 2]++;
	for (size_t i = 2; i < b.count + 2; i++)
		starts[i] += starts[i - 1];
	for (uint32_t i = 1; i < b.count; i++)
		order[starts[tree_link_at(b, i)->parent + 1]++] = i;
	free(starts);
	return b.count - 1;
}

void tree_links_link(struct tree_links b, int (*compare)(const void *, const void *, void *),
                     void *ctx)
{
	uint32_t *order = xcalloc(b.count + 1, sizeof(*order));
	size_t count = b.count ? by_parent(b, order) : 0, end;

	for (size_t first = 0; first < count; first = end) {
		struct tree_link *parent = tree_link_at(b, tree_link_at(b, order[first])->parent);

		for (end = first + 1; end < count; end++)
			if (tree_link_at(b, tree_link_at(b, order[end])->parent) != parent)
				break;
		if (end - first > 1)
			qsort_r(&order[first], end - first, sizeof(*order), compare, ctx);
		parent->first_child = order[first];
		for (size_t i = first; i + 1 < end; i++)
			tree_link_at(b, order[i])->next = order[i + 1];
	}
	free(order);
}

bool tree_links_step(struct tree_links b, struct tree_links_walk *w, bool into)
{
	const struct tree_link *at = tree_link_at(b, w->node);

	if (into && at->first_child != ID_NONE) {
		w->node = at->first_child;
		w->depth++;
		return true;
	}
	while (w->node != TREE_ROOT && at->next == ID_NONE) {
		w->node = at->parent;
		w->depth--;
		at = tree_link_at(b, w->node);
	}
	if (w->node == TREE_ROOT)
		return false;
	w->node = at->next;
	return true;
}
