/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_json: the nodes of a tree as objects that hold their children, whatever the tree is of.
 *
 * tree_json() writes the root and what is to be shown below it, nodes in the order of
 * branches_step(); what stands of a node is its owner's, who calls tree_json_recursion() among
 * it. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_TREE_JSON_H
#define ASSAY_OUTPUT_TREE_JSON_H

#include "base/json.h"
#include "view/branches.h"

/* Both get what tree_json() was given as `report`. */
struct tree_json_node {
	bool (*shown)(const void *report, uint32_t node); /* with those below it; not the root */
	void (*keys)(struct json *j, const void *report, uint32_t node); /* but "children" */
};

void tree_json(struct json *j, struct branches b, const struct tree_json_node *of,
               const void *report);
void tree_json_recursion(struct json *j, const struct branch *branch);

#endif
