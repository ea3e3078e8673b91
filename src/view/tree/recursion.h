/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recursion: folds recursion in a tree that is made from call paths.
 *
 * Functions that call themselves, directly or through up to seven other functions, form one round
 * of nodes. While a path is followed downward, recursion_fold() detects that the next step
 * completes a round that equals the round above it, and moves back to the node of the same step
 * there. The first node of a round records the largest number of rounds. Nothing fails. One thread.
 * Uses: view.
 */
#ifndef ASSAY_VIEW_TREE_RECURSION_H
#define ASSAY_VIEW_TREE_RECURSION_H

#include <stdbool.h>
#include <stdint.h>

struct view_tree;

/* The current position on a path; zeros: the root. */
struct recursion_place {
	uint32_t node;
	uint32_t top;    /* first node of the current recursion */
	uint32_t levels; /* its depth so far, 0: none */
	uint32_t since;  /* steps since the last round was completed */
};

/* True if the step `again` completes a round; `at` is then moved back by one round. */
bool recursion_fold(struct view_tree *t, struct recursion_place *at, uint64_t again);

#endif
