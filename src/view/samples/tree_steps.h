/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_steps: the functions of a sampled frame: its own function and the functions inlined there.
 *
 * tree_steps_begin() looks up inlined functions where a node of at least `limit` of the selection
 * may result. tree_steps_add() appends a frame's steps, outermost first. tree_steps_done() frees.
 * Nothing fails. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_TREE_STEPS_H
#define ASSAY_VIEW_SAMPLES_TREE_STEPS_H

#include "view/filter.h"
#include "view/tree/tree_builder.h"

struct tree_steps {
	struct view *view;
	bool *wanted; /* per frame: its inlined functions may be shown; NULL: none is */
};

void tree_steps_begin(struct tree_steps *s, struct view *v, const struct selection *selection,
                      double limit);
void tree_steps_add(struct tree_steps *s, uint32_t frame, struct tree_builder_steps *out);
void tree_steps_done(struct tree_steps *s);

#endif
