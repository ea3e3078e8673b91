/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_json: the nodes of any tree as JSON: a list in which each node names its caller by id, or
 * nested objects that contain their children.
 *
 * tree_json() writes the root and the nodes below it that are shown, in the order of
 * view_tree_step(). Ids count from 0, the root; a node's id is its index in the list. The list
 * grows with the number of nodes; the nested form can grow with the square of the depth, because of
 * its indentation. The owner of the tree writes the other keys of a node. Nothing fails. Uses:
 * base, view.
 */
#ifndef ASSAY_OUTPUT_JSON_TREE_JSON_H
#define ASSAY_OUTPUT_JSON_TREE_JSON_H

#include "base/text/json.h"
#include "view/document/document.h"

/* `keys` writes all keys of a node except "id" and "parent", or "children", and the recursion. */
void tree_json(struct json *j, const struct section *s,
               void (*keys)(void *ctx, const struct view_tree *t, uint32_t node), void *ctx,
               bool nested);

#endif
