/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_tree: the call tree of named call paths, callers above callees, as tree.h has it of
 * samples: processes are the first level where any is told, inlined functions are nodes of their
 * own, recursion is folded (rounds.h), and what is deeper than TREE_DEPTH_MAX has "[deeper]"
 * above its innermost function. Children stand with most total first.
 *
 * named_tree_new() / named_tree_free(). Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_NAMED_TREE_H
#define ASSAY_VIEW_NAMED_TREE_H

#include "view/branches.h"
#include "view/named_sums.h"

#define NAMED_NODES_MAX ((size_t)1 << 24)

struct named_node {
	struct branch branch;
	uint32_t image; /* NAMED_NONE: of none */
	const char *name;
	bool function; /* it is none of a process, and not the root */
	bool inlined;
	int64_t self, total;
	double share, self_share; /* of total, of self */
};

struct named_tree {
	VEC(struct named_node) nodes; /* [0] is the root: all; callers stand before callees */
};

int named_tree_new(struct named_tree **out, const struct named_selection *s, struct error *err);
void named_tree_free(struct named_tree *t);

/* The node is worth a line: its total is at least `limit`, a share. */
bool named_tree_shown(const struct named_tree *t, const struct named_node *node, double limit);

#endif
