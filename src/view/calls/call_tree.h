/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_tree: one process's call paths as a tree, callers above callees.
 *
 * Recursion is folded. A function that calls itself again, directly or through up to seven other
 * functions, has no new node below itself: its figures are added to its node above, which also
 * records the depth of the recursion. The sum of a node and its descendants does not change by
 * this. Children are sorted by total, largest first. Times are ns. call_tree_new() /
 * call_tree_free(); nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_TREE_H
#define ASSAY_VIEW_CALLS_CALL_TREE_H

#include "base/memory/vec.h"
#include "profile/calls/call_paths.h"
#include "view/tree/branches.h"

struct call_node {
	struct branch branch;
	uint32_t function;
	uint32_t open;
	uint64_t calls;
	double net_ns, total_ns; /* total: including all descendants */
	double blocked_ns, preempted_ns;
	double total_blocked_ns, total_preempted_ns;
	bool inherited;
};

struct call_tree {
	VEC(struct call_node) nodes; /* [0] is the root, (outside); callers come before callees */
};

struct call_tree *call_tree_new(const struct call_process *p);
void call_tree_free(struct call_tree *t);

/* Whether the node's total or its waiting is at least `limit` (0 to 1) of the root's. */
bool call_tree_shown(const struct call_tree *t, const struct call_node *node, double limit);

#endif
