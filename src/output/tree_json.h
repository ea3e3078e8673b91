/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_json: the nodes of a tree as objects that hold their children, whatever the tree is of.
 *
 * Nodes come in the order of branches_step(). Of each: tree_json_node(), keys of its own, among
 * them those of tree_json_recursion(), and tree_json_children(). tree_json_end() closes all that is
 * open. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_TREE_JSON_H
#define ASSAY_OUTPUT_TREE_JSON_H

#include "base/json.h"
#include "view/branches.h"

struct tree_json {
	struct json *j;
	unsigned open; /* nodes; zero at first */
};

void tree_json_node(struct tree_json *t, unsigned depth);
void tree_json_recursion(struct tree_json *t, const struct branch *branch);
void tree_json_children(struct tree_json *t);
void tree_json_end(struct tree_json *t);

#endif
