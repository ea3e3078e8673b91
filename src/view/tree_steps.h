/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_steps: the functions of a sampled frame: itself and those that were inlined there.
 *
 * tree_steps_begin() asks for inlined functions where a node of at least `limit` of the selection
 * may come of them; tree_steps_add() appends a frame's steps, outermost first. tree_steps_done().
 * Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_TREE_STEPS_H
#define ASSAY_VIEW_TREE_STEPS_H

#include "view/filter.h"
#include "view/planting.h"

struct tree_steps {
	struct view *view;
	bool *wanted;     /* by frame: its inlined functions may be shown */
	uint32_t *chains; /* by frame: first of its inlined functions + 1; 0: not asked yet */
	VEC(const char *) inlined; /* chains, outermost first, each ended by NULL */
};

void tree_steps_begin(struct tree_steps *s, struct view *v, const struct selection *selection,
                      double limit);
void tree_steps_add(struct tree_steps *s, uint32_t frame, struct planting_steps *out);
void tree_steps_done(struct tree_steps *s);

#endif
