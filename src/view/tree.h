/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree: the call tree, callers above callees; processes are the first level.
 *
 * tree_new() adds up the selected paths by function; children are sorted,
 * most time first. A function that was inlined is a node of its own, between
 * the function that it was put into and what it calls. Functions that call
 * themselves, directly or by way of up to seven others, are one round of
 * nodes, whose first says how many rounds there were at most; what a later
 * round did is counted to the same nodes. A path that is deeper than
 * TREE_DEPTH_MAX all the same has "[deeper]" for what is between there and
 * its innermost function. Times of a node and all below it add up as without
 * this.
 *
 * Nodes below the limit are left to the output. Shares are 0 to 1 of the
 * selection's base. tree_free(). Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_TREE_H
#define ASSAY_VIEW_TREE_H

#include "view/filter.h"
#include "view/planting.h"

struct tree_node {
	struct branch branch;
	uint32_t frame;                     /* a frame of the function; ID_NONE: none */
	uint32_t process;                   /* name id */
	const char *inlined;                /* the inlined function's name; NULL: it is none */
	uint64_t samples, weight;           /* callees included */
	uint64_t self_samples, self_weight; /* this function alone */
	uint64_t runnable_ns, blocked_ns;   /* callees included */
	double share, self_share;
};

struct tree {
	struct view *view;
	VEC(struct tree_node) nodes; /* [0] is the root: all; callers stand before callees */
	bool has_waits;
};

/* Inlined functions are asked for where a node of at least `limit` may come of it. */
struct tree *tree_new(struct view *v, const struct selection *s, double limit);
void tree_free(struct tree *t);

/* The node is worth a line: its time or its waiting is at least `limit` (a share) of all. */
bool tree_shown(const struct tree *t, const struct tree_node *node, double limit);
const char *tree_name(const struct tree *t, const struct tree_node *node);

#endif
