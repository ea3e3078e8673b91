/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_plant: from paths to the nodes of a tree.
 *
 * planting_begin() makes the root; plant() gives the node of a path, made
 * where it is new, quickly where paths come process by process; planting_end()
 * leaves the tree. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_TREE_PLANT_H
#define ASSAY_VIEW_TREE_PLANT_H

#include "view/rounds.h"
#include "view/tree.h"

struct node_key {
	uint32_t parent, process;
	uint64_t function; /* 0: the process itself */
};

struct planting {
	struct tree *tree;
	struct id_table index; /* from (parent, function) to node */
	VEC(struct node_key) keys;
	VEC(uint32_t) depths;
	struct rounds rounds; /* of the same nodes */
	/* By path: its place in the process that it was last planted for (name + 1; 0: none) */
	struct rounds_place *places;
	uint32_t *planted;
	bool *wanted;     /* by frame: its inlined functions may be shown */
	uint32_t *chains; /* by frame: first of its inlined functions + 1; 0: not asked yet */
	VEC(const char *) inlined; /* chains, outermost first, each ended by NULL */
};

void planting_begin(struct planting *g, struct tree *t, const struct selection *s, double limit);
uint32_t plant(struct planting *g, uint32_t process, uint32_t path);
void planting_end(struct planting *g);

#endif
