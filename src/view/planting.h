/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planting: from call paths to the nodes of a tree, callers above callees.
 *
 * What the tree is of is told by a struct planting_model. planting_begin() makes the root;
 * planting_node() makes a node of the first level, where there is one; plant() gives the node of a
 * path, made where it is new, quickly where paths come owner by owner. Recursion is folded
 * (rounds.h), and what is deeper than TREE_DEPTH_MAX has one node, "[deeper]", above its innermost
 * function. planting_end() writes recursion to the nodes, and frees what is not the tree.
 *
 * Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_PLANTING_H
#define ASSAY_VIEW_PLANTING_H

#include "base/hash.h"
#include "base/vec.h"
#include "view/branches.h"
#include "view/rounds.h"

#define TREE_DEPTH_MAX 400

/* One step down: a function, or one inlined into the step before. */
struct planting_step {
	uint64_t function; /* a node's children differ in it; UINT64_MAX is not for models */
	uint64_t again;    /* what makes another step the same in a recursion; 0: nothing does */
	const char *name;  /* NULL: the model knows it by `of` */
	uint32_t of;       /* the model's: a frame, an image; ID_NONE: none */
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

struct planting_key {
	uint64_t parent, function;
};

struct planting {
	const struct planting_model *of;
	void *model;
	struct id_table index; /* from key to node */
	VEC(struct planting_key) keys;
	VEC(uint32_t) depths;
	struct rounds rounds;
	struct rounds_place *places; /* by path: in the owner that it was last planted for */
	uint32_t *planted;           /* by path: that owner + 1; 0: none */
	struct planting_steps steps; /* of the path that is planted */
};

void planting_begin(struct planting *g, const struct planting_model *of, void *model, size_t paths);
void planting_end(struct planting *g, struct branches tree);

/* The child of `parent` that the step leads to. */
uint32_t planting_node(struct planting *g, uint32_t parent, const struct planting_step *step);

/* The node of a path of `owner` (a process's name, say), all of which are below `first`. */
uint32_t plant(struct planting *g, uint32_t owner, uint32_t first, uint32_t path);

#endif
