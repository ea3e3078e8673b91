/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_builder: makes the nodes of a view_tree from call paths, callers above callees.
 *
 * tree_builder_begin() makes the root. tree_builder_node() makes a node of the first level, if
 * there is one. tree_builder_add_path() returns the node of a path and makes missing nodes; it is
 * fast if all paths of one owner are added in succession. Recursion is folded (recursion.h).
 * Functions deeper than TREE_DEPTH_MAX share one node, "[deeper]", above the path's innermost
 * function. tree_builder_end() frees everything except the tree.
 *
 * Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_TREE_TREE_BUILDER_H
#define ASSAY_VIEW_TREE_TREE_BUILDER_H

#include "base/memory/path_tree.h"
#include "base/memory/vec.h"
#include "view/tree/recursion.h"

#define TREE_DEPTH_MAX 400

struct view_tree;

/* One step down: a function, or a function that is inlined into the step before. */
struct tree_builder_step {
	uint64_t function; /* distinguishes a node's children; UINT64_MAX is reserved */
	uint64_t again;    /* equal values are the same function in a recursion; 0: never */
	const char *name;  /* NULL: the model finds the name by `of` */
	uint32_t of;       /* used by the model only: a frame, an image; ID_NONE: none */
	bool inlined;
};

struct tree_builder_steps {
	VEC(struct tree_builder_step) all; /* outermost first */
};

/* The state of a tree while paths are added. */
struct tree_builder {
	struct path_tree index;          /* by function */
	VEC(uint32_t) depths;            /* per node */
	VEC(uint64_t) again;             /* per node: of its step; 0 for the root */
	struct recursion_place *places;  /* per path: its place for the owner that it was last added
	                                  * for */
	uint32_t *added;                 /* per path: that owner + 1; 0: none */
	struct tree_builder_steps steps; /* steps of the path that is being added */
	VEC(uint32_t) way;               /* the paths from there up to a path with a known place */
	bool whole;                      /* nothing is folded, and paths have any depth */
};

void tree_builder_begin(struct view_tree *t, size_t paths);
/* Makes room for this number of nodes at once. */
void tree_builder_reserve(struct view_tree *t, size_t nodes);
void tree_builder_end(struct tree_builder *g);

/* The child of `parent` for this step; made if it does not exist. */
uint32_t tree_builder_node(struct view_tree *t, uint32_t parent,
                           const struct tree_builder_step *step);

/* The node of a path that belongs to `owner` (for example the name of a process); all nodes of an
 * owner are below `first`. */
uint32_t tree_builder_add_path(struct view_tree *t, uint32_t owner, uint32_t first, uint32_t path);

/* The node of a path that is not one of the model, from the root on. `last` not NULL: the path goes
 * on to this step, and the steps between them are left out. */
uint32_t tree_builder_add_way(struct view_tree *t, const struct tree_builder_steps *steps,
                              const struct tree_builder_step *last);

#endif
