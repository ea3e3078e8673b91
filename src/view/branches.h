/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branches: how the nodes of a tree hang together, whatever the tree is of.
 *
 * A node is a struct of its own that begins with a struct branch; nodes stand in an array, [0] is
 * the root, callers stand before callees. BRANCHES() names such an array. branches_link() puts
 * children in order; branches_step() is the walk over them:
 *
 *	struct branch_walk w = {0};
 *	do
 *		shown = ...nodes.items[w.node]...
 *	while (branches_step(BRANCHES(&t->nodes), &w, shown));
 *
 * Nothing fails. Uses: base.
 */
#ifndef ASSAY_VIEW_BRANCHES_H
#define ASSAY_VIEW_BRANCHES_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_ROOT 0

struct branch {
	uint32_t parent;            /* the root's is the root */
	uint32_t first_child, next; /* ID_NONE: none */
	uint32_t levels;            /* of recursion that begins here, at most; 0: none */
	uint32_t round;             /* functions that take turns in it */
};

struct branches {
	void *nodes;
	size_t count, size; /* `size`: bytes of a node */
};

#define BRANCHES(v) ((struct branches){(v)->items, (v)->count, sizeof(*(v)->items)})

/* A node below `parent`, without children or siblings. */
struct branch branch_below(uint32_t parent);

struct branch *branch_at(struct branches b, uint32_t node);

/* Links children; `compare` gets addresses of two nodes' numbers, as qsort_r() gives them. */
void branches_link(struct branches b, int (*compare)(const void *, const void *, void *),
                   void *ctx);

/* Where a walk is; zeros: at the root. */
struct branch_walk {
	uint32_t node;
	unsigned depth;
};

/*
 * On to the next node, depth first, without recursion: a hostile file may hold very deep paths.
 * `into`: to those below this node, too. False: that was the last.
 */
bool branches_step(struct branches b, struct branch_walk *w, bool into);

#endif
