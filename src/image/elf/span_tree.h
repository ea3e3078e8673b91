/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span_tree: which of many spans of addresses covers an address, where a newer
 * one hides what it covers of the older ones.
 *
 * Zeroed is empty; span_tree_done() frees. Setting and finding take time by
 * the logarithm of the spans, whatever their order and overlaps; each span
 * that is set takes at most two nodes. Ends are exclusive. Not safe for several
 * threads. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_SPAN_TREE_H
#define ASSAY_IMAGE_ELF_SPAN_TREE_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

struct span_node {
	uint64_t start, end;
	uint32_t left, right; /* node number, 0 none */
	uint32_t weight;      /* random: a parent's is the larger */
	uint32_t id;
};

struct span_tree {
	VEC(struct span_node) nodes; /* [0] is no node */
	uint32_t root, unused;       /* unused: list through `left` */
};

/* [start, end) is `id` from now on; ID_NONE: nothing is there. */
void span_tree_set(struct span_tree *t, uint64_t start, uint64_t end, uint32_t id);
/* The id at an address, or ID_NONE. */
uint32_t span_tree_find(const struct span_tree *t, uint64_t address);
void span_tree_done(struct span_tree *t);

#endif
