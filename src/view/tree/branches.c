/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/branches.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

struct branch branch_below(uint32_t parent)
{
	return (struct branch){.parent = parent, .first_child = ID_NONE, .next = ID_NONE};
}

struct branch *branch_at(struct branches b, uint32_t node)
{
	return (struct branch *)((char *)b.nodes + node * b.size);
}

/* Visits the sorted nodes from last to first and puts each one in front of its siblings. */
void branches_link(struct branches b, int (*compare)(const void *, const void *, void *), void *ctx)
{
	uint32_t *order = xcalloc(b.count + 1, sizeof(*order));

	for (uint32_t i = 0; i < b.count; i++)
		order[i] = i;
	qsort_r(order, b.count, sizeof(*order), compare, ctx);
	for (size_t i = b.count; i-- > 0;) {
		struct branch *node = branch_at(b, order[i]), *parent = branch_at(b, node->parent);

		if (order[i] == TREE_ROOT)
			continue;
		node->next = parent->first_child;
		parent->first_child = order[i];
	}
	free(order);
}

bool branches_step(struct branches b, struct branch_walk *w, bool into)
{
	const struct branch *at = branch_at(b, w->node);

	if (into && at->first_child != ID_NONE) {
		w->node = at->first_child;
		w->depth++;
		return true;
	}
	while (w->node != TREE_ROOT && at->next == ID_NONE) {
		w->node = at->parent;
		w->depth--;
		at = branch_at(b, w->node);
	}
	if (w->node == TREE_ROOT)
		return false;
	w->node = at->next;
	return true;
}
