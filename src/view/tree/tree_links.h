/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_links: the links between the nodes of a tree, for any kind of node.
 *
 * A node is any struct that begins with a struct tree_link. The nodes are in an array: [0] is the
 * root, and callers come before callees. TREE_LINKS() refers to such an array. tree_links_link()
 *links the children of each node in order. tree_links_step() walks over the nodes:
 *
 *	struct tree_links_walk w = {0};
 *	do
 *		shown = ...nodes.items[w.node]...
 *	while (tree_links_step(TREE_LINKS(&t->nodes), &w, shown));
 *
 * Nothing is allocated beyond a call, and nothing fails. Uses: base.
 */
#ifndef ASSAY_VIEW_TREE_TREE_LINKS_H
#define ASSAY_VIEW_TREE_TREE_LINKS_H

#include "base/memory/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_ROOT 0

struct tree_link {
	uint32_t parent;            /* for the root: the root itself */
	uint32_t first_child, next; /* ID_NONE: none */
	uint32_t levels;            /* depth of the recursion that begins here; 0: none */
	uint32_t round;             /* number of functions that call each other in this recursion */
};

struct tree_links {
	void *nodes;
	size_t count, size; /* `size`: bytes per node */
};

#define TREE_LINKS(v) ((struct tree_links){(v)->items, (v)->count, sizeof(*(v)->items)})

/* A new node below `parent`, without children or siblings. */
struct tree_link tree_link_below(uint32_t parent);

struct tree_link *tree_link_at(struct tree_links b, uint32_t node);

/* Links the children of each node. `compare` gets pointers to two node indexes (uint32_t), as
 * qsort_r() passes them. */
void tree_links_link(struct tree_links b, int (*compare)(const void *, const void *, void *),
                     void *ctx);

/* The position of a walk; zeros: at the root. */
struct tree_links_walk {
	uint32_t node;
	unsigned depth;
};

/*
 * Moves to the next node, depth first and without recursion: a hostile file may hold very deep
 * paths. `into`: visit the children of this node too. Returns false after the last node.
 */
bool tree_links_step(struct tree_links b, struct tree_links_walk *w, bool into);

#endif
