/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree: the call tree, callers above callees; processes are the first level.
 *
 * tree_new() adds up the selected paths by function; children are sorted,
 * most time first. Nodes below the limit are left to tree_cut(). Shares are 0
 * to 1 of the selection's base. tree_free(). Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_TREE_H
#define ASSAY_VIEW_TREE_H

#include "view/filter.h"

#define TREE_ROOT 0

struct tree_node {
	uint32_t parent;
	uint32_t frame;                     /* a frame of the function; ID_NONE: a process */
	uint32_t process;                   /* name id */
	uint64_t samples, weight;           /* callees included */
	uint64_t self_samples, self_weight; /* this function alone */
	uint64_t runnable_ns, blocked_ns;   /* callees included */
	uint32_t first_child, next;         /* ID_NONE: none */
	double share, self_share;
};

struct tree {
	struct view *view;
	VEC(struct tree_node) nodes; /* [0] is the root: all */
	bool has_waits;
};

struct tree *tree_new(struct view *v, const struct selection *s);
void tree_free(struct tree *t);

/* The node is worth a line: its time or its waiting is at least `limit` (a share) of all. */
bool tree_shown(const struct tree *t, const struct tree_node *node, double limit);
const char *tree_name(const struct tree *t, const struct tree_node *node);

#endif
