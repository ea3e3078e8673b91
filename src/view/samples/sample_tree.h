/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_tree: the call tree of samples (view/tree/view_tree.h); processes are the first level,
 * unless the request inverts the tree.
 *
 * An inlined function is a separate node between the function that contains it and its callees.
 * Inlined functions are looked up only where a node that the request shows may result. The
 * view must outlive the tree. view_tree_free() frees. Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_SAMPLE_TREE_H
#define ASSAY_VIEW_SAMPLES_SAMPLE_TREE_H

#include "view/request.h"
#include "view/samples/sample_without.h"
#include "view/tree/view_tree.h"

/* `whole`: nothing is folded, all inlined functions are looked up, and there is no level of
 * processes, whatever the request. `without`: adds what remains without the removed functions;
 * NULL: nothing is removed. */
struct view_tree *sample_tree_new(struct view *v, const struct selection *s,
                                  const struct report_request *q,
                                  const struct sample_without *without, bool whole);

#endif
