/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree: the call tree, callers above callees; processes are the first level.
 *
 * tree_new() sums the selected paths by function. Children are sorted, most time first. An inlined
 * function is a separate node between the function that contains it and its callees. Recursion,
 * direct or through up to seven other functions, is folded into one round of nodes. The first node
 * of the round has the depth of the recursion, and later rounds are counted for the same nodes. If
 * a path is still deeper than TREE_DEPTH_MAX, one node "[deeper]" replaces the functions between
 * that depth and the innermost function. Folding does not change the sum of a node and its
 * descendants.
 *
 * The tree keeps nodes below the limit; the output leaves them out (tree_shown()). Shares are 0 to
 * 1 of the selection's base. tree_free(). Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_TREE_H
#define ASSAY_VIEW_SAMPLES_TREE_H

#include "view/filter.h"
#include "view/tree/planting.h"

struct tree_node {
	struct branch branch;
	uint32_t frame;                     /* a frame of the function; ID_NONE: none */
	uint32_t process;                   /* name id */
	const char *inlined;                /* name of the inlined function; NULL: not inlined */
	uint64_t samples, weight;           /* with callees */
	uint64_t self_samples, self_weight; /* this function alone */
	uint64_t runnable_ns, blocked_ns;   /* with callees */
	double share, self_share;
};

struct tree {
	struct view *view;
	VEC(struct tree_node) nodes; /* [0] is the root, "all"; callers come before callees */
	bool has_waits;
};

/* Inlined functions are looked up only where a node of at least `limit` may result. */
struct tree *tree_new(struct view *v, const struct selection *s, double limit);
void tree_free(struct tree *t);

/* Whether the node is shown: its time or its waiting is at least `limit` (a share) of all. */
bool tree_shown(const struct tree *t, const struct tree_node *node, double limit);
const char *tree_name(const struct tree *t, const struct tree_node *node);

#endif
