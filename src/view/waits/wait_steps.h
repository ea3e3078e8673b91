/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_steps: the functions of a waiter's or a waker's path, inlined ones included, without those
 * of the scheduler at its end.
 *
 * wait_steps_begin(); wait_steps_add() for each path; wait_steps_done(). The view must outlive it.
 * Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_STEPS_H
#define ASSAY_VIEW_WAITS_WAIT_STEPS_H

#include "view/samples/tree_steps.h"

struct wait_steps {
	struct view *view;
	struct tree_steps steps;
	VEC(uint32_t) frames;
};

void wait_steps_begin(struct wait_steps *s, struct view *v);
/* Appends the steps of a path of the profile, outermost first. */
void wait_steps_add(struct wait_steps *s, uint32_t path, struct tree_builder_steps *out);
/* The name of a step that wait_steps_add() made. */
const char *wait_step_name(const struct wait_steps *s, const struct tree_builder_step *step);
void wait_steps_done(struct wait_steps *s);

#endif
