/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branches: the links between the nodes of a tree, for any kind of node.
 *
 * A node is any struct that begins with a struct branch. The nodes are in an array: [0] is the
 * root, and callers come before callees. BRANCHES() refers to such an array. branches_link() links
 * the children of each node in order. branches_step() walks over the nodes:
 *
 *	struct branch_walk w = {0};
 *	do
 *		shown = ...nodes.items[w.node]...
 *	while (branches_step(BRANCHES(&t->nodes), &w, shown));
 *
 * Nothing is allocated beyond a call, and nothing fails. Uses: base.
 */
#ifndef ASSAY_VIEW_TREE_BRANCHES_H
#define ASSAY_VIEW_TREE_BRANCHES_H

#include "base/memory/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_ROOT 0

struct branch {
	uint32_t parent;            /* for the root: the root itself */
	uint32_t first_child, next; /* ID_NONE: none */
	uint32_t levels;            /* depth of the recursion that begins here; 0: none */
	uint32_t round;             /* number of functions that call each other in this recursion */
};

struct branches {
	void *nodes;
	size_t count, size; /* `size`: bytes per node */
};

#define BRANCHES(v) ((struct branches){(v)->items, (v)->count, sizeof(*(v)->items)})

/* A new node below `parent`, without children or siblings. */
struct branch branch_below(uint32_t parent);

struct branch *branch_at(struct branches b, uint32_t node);

/* Links the children of each node. `compare` gets pointers to two node indexes (uint32_t), as
 * qsort_r() passes them. */
void branches_link(struct branches b, int (*compare)(const void *, const void *, void *),
                   void *ctx);

/* The position of a walk; zeros: at the root. */
struct branch_walk {
	uint32_t node;
	unsigned depth;
};

/*
 * Moves to the next node, depth first and without recursion: a hostile file may hold very deep
 * paths. `into`: visit the children of this node too. Returns false after the last node.
 */
bool branches_step(struct branches b, struct branch_walk *w, bool into);

#endif
