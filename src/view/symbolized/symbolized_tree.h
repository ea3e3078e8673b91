/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_tree: the call tree of named call paths, callers above callees.
 *
 * The tree has the same form as that of samples (tree.h): processes are the first level if the file
 * has any, inlined functions are separate nodes, recursion is folded (rounds.h), and a path deeper
 * than TREE_DEPTH_MAX has "[deeper]" above its innermost function. Children are sorted by total,
 * largest first.
 *
 * symbolized_tree_new() / symbolized_tree_free(). -EFBIG: more than NAMED_NODES_MAX nodes. Uses:
 * base, profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_TREE_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_TREE_H

#include "view/tree/branches.h"
#include "view/symbolized/symbolized_sums.h"

#define NAMED_NODES_MAX ((size_t)1 << 24)

struct named_node {
	struct branch branch;
	uint32_t image; /* NAMED_NONE: no image */
	const char *name;
	bool function; /* false: a process, or the root */
	bool inlined;
	int64_t self, total;
	double share, self_share; /* of total, of self */
};

struct symbolized_tree {
	VEC(struct named_node) nodes; /* [0] is the root, "all"; callers come before callees */
};

int symbolized_tree_new(struct symbolized_tree **out, const struct named_selection *s,
                        struct error *err);
void symbolized_tree_free(struct symbolized_tree *t);

/* Whether the node is shown: its total is at least `limit`, a share. */
bool symbolized_tree_shown(const struct symbolized_tree *t, const struct named_node *node,
                           double limit);

#endif
