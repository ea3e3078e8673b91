/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_functions: the functions of a call tree.
 *
 * Nodes with equal texts in all key columns are one function, for example a function that is called
 * here and inlined there. The columns of the tree must be declared. tree_functions_find() on zeros
 * / tree_functions_done(); the tree must outlive them. Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_TREE_TREE_FUNCTIONS_H
#define ASSAY_VIEW_TREE_TREE_FUNCTIONS_H

#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/memory/vec.h"

struct view_tree;

struct tree_functions {
	const struct view_tree *tree;
	uint32_t *of;          /* per node: its function; 0: only the root */
	struct intern keys;    /* the texts of a function's keys; its id is function + 1 */
	VEC(char *) names;     /* per function */
	VEC(uint32_t) nodes;   /* per function: its first node */
	struct id_table index; /* of `steps` */
	VEC(struct step_function {
		uint64_t step; /* as in struct tree_builder_step */
		uint32_t function;
	})
	steps;
};

void tree_functions_find(struct tree_functions *f, const struct view_tree *t);
void tree_functions_done(struct tree_functions *f);

#endif
