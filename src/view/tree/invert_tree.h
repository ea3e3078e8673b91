/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * invert_tree: makes a bottom-up tree of a call tree: callees above their callers.
 *
 * The tree must be whole (view_tree_whole()), have its columns, and not be finished. The first
 * level then has each function once, with its own value as the total. The children of a node are
 * the callers, with the parts of that value that came through them. The self value of a node is the
 * part whose outermost function is the node, so a total is the self value and the totals of the
 * children.
 *
 * The rule for recursion is that of all trees (recursion.h). Paths with large values come first.
 * When INVERT_STEPS_MAX functions were read, paths are cut after INVERT_DEPTH_MAX functions; when
 * there are INVERT_NODES_MAX nodes, after the first. A path that is cut has a node "[deeper]" above
 * its outermost function. Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_TREE_INVERT_TREE_H
#define ASSAY_VIEW_TREE_INVERT_TREE_H

#include "view/tree/view_tree.h"

#define INVERT_STEPS_MAX ((size_t)1 << 27)
#define INVERT_DEPTH_MAX 1000
#define INVERT_NODES_MAX ((size_t)1 << 22)

/*
 * `root`: the step of the root's own values; NULL: they stay in the root. *first, unless `first` is
 * NULL: for each node of the original tree its node of the first level, or ID_NONE if it has no
 * values; the caller frees it.
 */
void invert_tree(struct view_tree *t, const struct tree_builder_step *root, uint32_t **first);

/*
 * Adapts the columns of an inverted tree. Readers get no self value; the total gets its title. A
 * measure that has only self values gets totals. `self` and `total` are the functions of the
 * columns with measures, view_tree_self and view_tree_total if the adapter has none of its own.
 */
void invert_tree_columns(struct row_source *s, column_get *self, column_get *total);

#endif
