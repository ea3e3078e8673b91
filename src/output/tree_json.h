/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_json: the nodes of a tree as JSON, whatever the tree is of: a list in which each node names
 * its caller by id, or, nested, objects that hold their children.
 *
 * tree_json() writes the root and the nodes below it that are shown, in the order of
 * branches_step(). Ids count from 0, the root's; a node stands at the place of its id. The list
 * grows with the number of nodes; indentation lets the nested form grow with the square of the
 * depth. The owner of the tree writes the other keys of a node, tree_json_recursion() among them.
 * Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_TREE_JSON_H
#define ASSAY_OUTPUT_TREE_JSON_H

#include "base/json.h"
#include "view/branches.h"

/* Both get what tree_json() was given as `report`. */
struct tree_json_node {
	bool (*shown)(const void *report, uint32_t node); /* with those below it; not the root */
	/* all but "id" and "parent", or "children" */
	void (*keys)(struct json *j, const void *report, uint32_t node);
};

void tree_json(struct json *j, struct branches b, const struct tree_json_node *of,
               const void *report, bool nested);
void tree_json_recursion(struct json *j, const struct branch *branch);

/* "id" and "parent" of a node; ID_NONE: it has no caller. */
void tree_json_id(struct json *j, uint32_t id, uint32_t parent);

#endif
