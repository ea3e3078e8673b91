/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/recursion.h"

/* The largest number of functions calling each other that is folded as a recursion. */
#define ROUND_MAX 8

void recursion_add(struct recursion *r, uint32_t parent, uint64_t again)
{
	vec_push(&r->nodes, (struct recursion_node){.parent = parent, .again = again});
}

void recursion_done(struct recursion *r)
{
	vec_done(&r->nodes);
}

/*
 * The length of the round that `again` completes below `node`, if the functions of the round equal
 * those of the round before; 0: no round is complete.
 */
static uint32_t round_of(const struct recursion *r, uint32_t node, uint64_t again)
{
	const struct recursion_node *nodes = r->nodes.items;
	uint64_t above[2 * ROUND_MAX];
	uint32_t count = 0;

	while (count < 2 * ROUND_MAX && nodes[node].again) {
		above[count++] = nodes[node].again;
		node = nodes[node].parent;
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

static uint32_t ancestor(const struct recursion *r, uint32_t node, uint32_t steps)
{
	while (steps--)
		node = r->nodes.items[node].parent;
	return node;
}

/* Moves back to the node of the same step, one round earlier. */
static void go_back(struct recursion *r, struct recursion_place *at, uint32_t round)
{
	uint32_t node = ancestor(r, at->node, round - 1), top = ancestor(r, node, round - 1);
	struct recursion_node *first = &r->nodes.items[top];

	at->levels = at->levels && at->top == top && at->since == round - 1 ? at->levels + 1 : 2;
	at->node = node;
	at->top = top;
	at->since = 0;
	if (first->levels >= at->levels)
		return;
	first->levels = at->levels;
	first->round = round;
}

bool recursion_fold(struct recursion *r, struct recursion_place *at, uint64_t again)
{
	uint32_t round = again ? round_of(r, at->node, again) : 0;

	if (round)
		go_back(r, at, round);
	return round;
}
