/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_tree: one process's call paths as a tree, callers above callees (view/tree/view_tree.h).
 *
 * Children are sorted by total, largest first. Times are ns. call_tree_new() / view_tree_free();
 * the process and the report must outlive the tree. Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_TREE_H
#define ASSAY_VIEW_CALLS_CALL_TREE_H

#include "view/calls/call_report.h"
#include "view/tree/view_tree.h"

/* The measures of a node. */
enum { CALL_TREE_NET, CALL_TREE_BLOCKED, CALL_TREE_PREEMPTED, CALL_TREE_CALLS, CALL_TREE_MEASURES };

/* The input of the tree: `ctx` of the tree, which the caller owns. */
struct call_tree_source {
	const struct call_report *report;
	const struct call_process *process;
	bool unseparated;
	bool inverted;          /* callees above callers */
	VEC(uint32_t) open;     /* per node: calls that had not returned */
	VEC(uint8_t) inherited; /* per node */
};

struct view_tree *call_tree_new(struct call_tree_source *of);
void call_tree_source_done(struct call_tree_source *of);

#endif
