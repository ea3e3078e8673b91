/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_tree: the off-wake tree. Below the path of a thread that waits is the thread that woke it,
 * as "<- NAME", and below that the path of the wake-up.
 *
 * The children of the root are the threads that wait. The report must outlive the tree, which is
 * freed with view_tree_free(). Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_TREE_H
#define ASSAY_VIEW_WAITS_WAIT_TREE_H

#include "view/tree/view_tree.h"
#include "view/waits/wait_report.h"

enum wait_measure {
	WAIT_MEASURE_BLOCKED,
	WAIT_MEASURE_RUNNABLE,
	WAIT_MEASURE_COUNT,
	WAIT_MEASURES
};

struct view_tree *wait_tree(struct wait_report *r);

/* The name of a node: a function, or a thread. */
const char *wait_tree_name(const struct view_tree *t, uint32_t node);

#endif
