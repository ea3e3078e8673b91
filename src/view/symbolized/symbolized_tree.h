/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_tree: the call tree of a symbolized profile.
 *
 * Processes are the first level if the file has any, unless the request inverts the tree; inlined
 * functions are separate nodes. The selection and the unit must outlive the tree. -EFBIG: more than
 * NAMED_NODES_MAX nodes. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_TREE_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_TREE_H

#include "view/symbolized/symbolized_sums.h"
#include "view/request.h"
#include "view/tree/view_tree.h"

#define NAMED_NODES_MAX ((size_t)1 << 24)

/*
 * A call tree without columns: measure i has values[i] of the selected rows. `whole`: nothing is
 * folded, and there is no level of processes. The caller adds columns and calls view_tree_finish().
 * The selection must outlive the tree.
 */
int symbolized_tree_plant(struct view_tree **out, const struct named_selection *s,
                          const unsigned *values, size_t count, bool whole, struct error *err);
column_get symbolized_tree_name; /* of a node; the root: "all" */

int symbolized_tree_new(struct view_tree **out, const struct named_selection *s,
                        const struct report_request *q, const struct unit *unit, bool whole,
                        struct error *err);

#endif
