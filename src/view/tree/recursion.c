/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/recursion.h"

#include "view/tree/view_tree.h"

/* The largest number of functions calling each other that is folded as a recursion. */
#define ROUND_MAX 8

/*
 * The length of the round that `again` completes below `node`, if the functions of the round equal
 * those of the round before; 0: no round is complete.
 */
static uint32_t round_of(const struct view_tree *t, uint32_t node, uint64_t again)
{
	const uint64_t *agains = t->builder.again.items;
	uint64_t above[2 * ROUND_MAX];
	uint32_t count = 0;

	while (count < 2 * ROUND_MAX && agains[node]) {
		above[count++] = agains[node];
		node = t->nodes.items[node].parent;
	}
	for (uint32_t round = 1; round <= ROUND_MAX && 2 * round - 1 <= count; round++) {
		uint32_t same = 0;

		if (above[round - 1] != again)
			continue;
		while (same + 1 < round && above[same] == above[same + round])
			same++;
		if (same + 1 == round)
			return round;
	}
	return 0;
}

static uint32_t ancestor(const struct view_tree *t, uint32_t node, uint32_t steps)
{
	while (steps--)
		node = t->nodes.items[node].parent;
	return node;
}

/* Moves back to the node of the same step, one round earlier. */
static void go_back(struct view_tree *t, struct recursion_place *at, uint32_t round)
{
	uint32_t node = ancestor(t, at->node, round - 1), top = ancestor(t, node, round - 1);
	struct view_node *first = &t->nodes.items[top];

	at->levels = at->levels && at->top == top && at->since == round - 1 ? at->levels + 1 : 2;
	at->node = node;
	at->top = top;
	at->since = 0;
	if (first->levels >= at->levels)
		return;
	first->levels = at->levels;
	first->round = (uint8_t)round;
}

bool recursion_fold(struct view_tree *t, struct recursion_place *at, uint64_t again)
{
	uint32_t round = again ? round_of(t, at->node, again) : 0;

	if (round)
		go_back(t, at, round);
	return round;
}
