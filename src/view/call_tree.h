/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_tree: one process's call paths as a tree, callers above callees.
 *
 * A function that is called again below itself, by itself or by way of up to
 * seven others, is no node of its own there: it counts to the node above, which
 * says how deep that went. Times of a node and of all below it add up as
 * without this. Children stand with most total first. Times are ns.
 * call_tree_new / call_tree_free. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CALL_TREE_H
#define ASSAY_VIEW_CALL_TREE_H

#include "base/vec.h"
#include "profile/call_paths.h"
#include "view/branches.h"

struct call_node {
	struct branch branch;
	uint32_t function;
	uint32_t open;
	uint64_t calls;
	double net_ns, total_ns; /* total: with all below */
	double blocked_ns, preempted_ns;
	double total_blocked_ns, total_preempted_ns;
	bool inherited;
};

struct call_tree {
	VEC(struct call_node) nodes; /* [0] is the root, (outside); callers stand before callees */
};

struct call_tree *call_tree_new(const struct call_process *p);
void call_tree_free(struct call_tree *t);

/* Its total or its waiting is at least `limit` (0 to 1) of all. */
bool call_tree_shown(const struct call_tree *t, const struct call_node *node, double limit);

#endif
