/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rounds: folds recursion in a tree that is made from call paths.
 *
 * Functions that call themselves, directly or through up to seven other functions, form one round
 * of nodes. While a path is followed downward, rounds_fold() detects that the next step completes a
 * round that equals the round above it, and moves back to the node of the same step there. The
 * first node of a round records the largest number of rounds.
 *
 * rounds_add() is called for each node, in the tree's order; rounds_done() frees. A zeroed struct
 * is empty. Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_TREE_ROUNDS_H
#define ASSAY_VIEW_TREE_ROUNDS_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct rounds_node {
	uint32_t parent;
	uint32_t levels; /* largest depth of the recursion that begins here; 0: none */
	uint32_t round;  /* number of functions in one round */
	uint64_t again;  /* equal values in successive rounds are a recursion; 0: never */
};

struct rounds {
	VEC(struct rounds_node) nodes; /* [0] is the root */
};

/* The current position on a path; zeros: the root. */
struct rounds_place {
	uint32_t node;
	uint32_t top;    /* first node of the current recursion */
	uint32_t levels; /* its depth so far, 0: none */
	uint32_t since;  /* steps since the last round was completed */
};

void rounds_add(struct rounds *r, uint32_t parent, uint64_t again);
void rounds_done(struct rounds *r);

/* True if the step `again` completes a round; `at` is then moved back by one round. */
bool rounds_fold(struct rounds *r, struct rounds_place *at, uint64_t again);

#endif
