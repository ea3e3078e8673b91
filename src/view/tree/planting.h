/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planting: makes the nodes of a call tree from call paths, callers above callees.
 *
 * A struct planting_model describes the paths and builds the nodes. planting_begin() makes the
 * root. planting_node() makes a node of the first level, if there is one. plant() returns the node
 * of a path and makes missing nodes; it is fast if all paths of one owner are planted in
 * succession. Recursion is folded (rounds.h). Functions deeper than TREE_DEPTH_MAX share one node,
 * "[deeper]", above the path's innermost function. planting_end() writes the recursion to the nodes
 * and frees everything except the tree.
 *
 * Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_TREE_PLANTING_H
#define ASSAY_VIEW_TREE_PLANTING_H

#include "base/memory/path_tree.h"
#include "base/memory/vec.h"
#include "view/tree/branches.h"
#include "view/tree/rounds.h"

#define TREE_DEPTH_MAX 400

/* One step down: a function, or a function that is inlined into the step before. */
struct planting_step {
	uint64_t function; /* distinguishes a node's children; UINT64_MAX is reserved */
	uint64_t again;    /* equal values are the same function in a recursion; 0: never */
	const char *name;  /* NULL: the model finds the name by `of` */
	uint32_t of;       /* used by the model only: a frame, an image; ID_NONE: none */
	bool inlined;
};

struct planting_steps {
	VEC(struct planting_step) all; /* outermost first */
};

struct planting_model {
	uint32_t (*parent)(void *model, uint32_t path); /* the root's path is 0 */
	/* Appends the steps of the path's last place. */
	void (*steps)(void *model, uint32_t path, struct planting_steps *out);
	/* Appends a node to the tree; `step` NULL: the root. */
	void (*node)(void *model, struct branch branch, const struct planting_step *step);
};

struct planting {
	const struct planting_model *of;
	void *model;
	struct path_tree index; /* by function */
	VEC(uint32_t) depths;   /* per node */
	struct rounds rounds;
	struct rounds_place *places; /* per path: its place for the owner that it was last planted
	                              * for */
	uint32_t *planted;           /* per path: that owner + 1; 0: none */
	struct planting_steps steps; /* of the path that is being planted */
	VEC(uint32_t) way;           /* the paths from there up to one with a known place */
	bool whole;                  /* nothing is folded, and paths have any depth */
};

void planting_begin(struct planting *g, const struct planting_model *of, void *model, size_t paths);
void planting_end(struct planting *g, struct branches tree);

/* The child of `parent` for this step; made if it does not exist. */
uint32_t planting_node(struct planting *g, uint32_t parent, const struct planting_step *step);

/* The node of a path that belongs to `owner` (for example the name of a process); all nodes of an
 * owner are below `first`. */
uint32_t plant(struct planting *g, uint32_t owner, uint32_t first, uint32_t path);

#endif
