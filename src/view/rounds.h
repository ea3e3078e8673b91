/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rounds: recursion in a tree that is made of call paths, folded.
 *
 * Functions that call themselves, directly or by way of up to seven others, are one round of
 * nodes: rounds_fold() finds, on the way down a path, that the next step is the same as one a
 * round above where the whole round is the same, and goes back there. The first node of a round
 * keeps how many there were at most.
 *
 * rounds_add() for each node of the tree, in the tree's order; rounds_done(). Zeros are an empty
 * one. Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_ROUNDS_H
#define ASSAY_VIEW_ROUNDS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct rounds_node {
	uint32_t parent;
	uint32_t levels; /* of recursion that begins here, at most; 0: none */
	uint32_t round;  /* functions that take turns in it */
	uint64_t again;  /* equal ones in a row are recursion; 0: never */
};

struct rounds {
	VEC(struct rounds_node) nodes; /* [0] is the root */
};

/* Where the way along a path has got to; zeros: the root. */
struct rounds_place {
	uint32_t node;
	uint32_t top;    /* the node at which the recursion begins that it is in */
	uint32_t levels; /* of that so far, 0: none */
	uint32_t since;  /* steps since the last round ended */
};

void rounds_add(struct rounds *r, uint32_t parent, uint64_t again);
void rounds_done(struct rounds *r);

/* The step `again` is one of a round, and `at` has gone back by it. */
bool rounds_fold(struct rounds *r, struct rounds_place *at, uint64_t again);

#endif
