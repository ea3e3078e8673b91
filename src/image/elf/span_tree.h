/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span_tree: finds which of many address spans covers an address. A newer span hides the part of
 * older spans that it covers.
 *
 * A zeroed tree is empty; span_tree_done() frees it. Setting and finding take logarithmic time for
 * any order and overlap; each span that is set uses at most two nodes. Ends are exclusive. Not
 * thread-safe. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_SPAN_TREE_H
#define ASSAY_IMAGE_ELF_SPAN_TREE_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

struct span_node {
	uint64_t start, end;
	uint32_t left, right; /* node number, 0 none */
	uint32_t weight;      /* random; a parent's is larger than its children's */
	uint32_t id;
};

struct span_tree {
	VEC(struct span_node) nodes; /* [0] is unused */
	uint32_t root, unused;       /* unused: list through `left` */
};

/* Sets [start, end) to `id`; ID_NONE clears it. */
void span_tree_set(struct span_tree *t, uint64_t start, uint64_t end, uint32_t id);
/* Returns the id at an address, or ID_NONE. */
uint32_t span_tree_find(const struct span_tree *t, uint64_t address);
void span_tree_done(struct span_tree *t);

#endif
