/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_json: the nodes of any tree as JSON: a list in which each node names its caller by id, or
 * nested objects that contain their children.
 *
 * tree_json() writes the root and the nodes below it that are shown, in the order of
 * tree_links_step(). Ids count from 0, the root; a node's id is its index in the list. The list
 * grows with the number of nodes; the nested form can grow with the square of the depth, because of
 * its indentation. The owner of the tree writes the other keys of a node, including
 * tree_json_recursion(). Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_JSON_TREE_JSON_H
#define ASSAY_OUTPUT_JSON_TREE_JSON_H

#include "base/text/json.h"
#include "view/tree/tree_links.h"

/* Both functions get the `report` that was passed to tree_json(). */
struct tree_json_node {
	bool (*shown)(const void *report, uint32_t node); /* whether the node and its descendants
	                                                   * are shown; not called for the root */
	/* writes all keys except "id" and "parent", or "children" */
	void (*keys)(struct json *j, const void *report, uint32_t node);
};

void tree_json(struct json *j, struct tree_links b, const struct tree_json_node *of,
               const void *report, bool nested);
void tree_json_recursion(struct json *j, const struct tree_link *branch);

/* Writes "id" and "parent" of a node; ID_NONE: no caller. */
void tree_json_id(struct json *j, uint32_t id, uint32_t parent);

#endif
