/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_tree: finds the children of the nodes of a tree by (parent, key).
 *
 * The caller keeps the nodes in an array and chooses their ids; node 0 is the root, which is the
 * child of no node. The table holds parents and keys itself, so that most searches read one cache
 * line. A key is any 64 bits: an id, or a hash for which a collision is acceptable.
 *
 *	id = path_tree_step(&t, parent, key, (uint32_t)nodes.count);
 *	if (id == nodes.count)
 *		vec_push(&nodes, ...);
 *
 * A zeroed struct is empty. Nothing fails. Uses: base.
 */
#ifndef ASSAY_BASE_MEMORY_PATH_TREE_H
#define ASSAY_BASE_MEMORY_PATH_TREE_H

#include <stddef.h>
#include <stdint.h>

struct path_slot {
	uint64_t key;
	uint32_t parent, id; /* id 0: free */
};

struct path_tree {
	struct path_slot *slots;
	size_t mask; /* slots - 1 */
	size_t count;
};

/* The child of `parent` with this key, or 0. */
uint32_t path_tree_find(const struct path_tree *t, uint32_t parent, uint64_t key);
/* The same; if there is no such child, `next` (not 0) becomes its id. */
uint32_t path_tree_step(struct path_tree *t, uint32_t parent, uint64_t key, uint32_t next);
/* Makes room for `count` more children at once: cheaper than growing step by step. */
void path_tree_reserve(struct path_tree *t, size_t count);
void path_tree_done(struct path_tree *t);

#endif
