/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_stacks: the call paths of one side of a comparison, summed up over its runs, as a symbolized
 * profile. Files that were found to be the same have the name that they have in A.
 *
 * The caller owns `n`, and calls symbolized_profile_init() first. The values are the number of
 * samples (or calls) and the CPU time (or other cost), rounded to whole numbers. Nothing fails. One
 * thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_STACKS_H
#define ASSAY_VIEW_DIFF_DIFF_STACKS_H

#include "profile/symbolized_profile.h"
#include "view/diff/diff_runs.h"

void diff_stacks(struct symbolized_profile *n, const struct diff_runs *t, enum diff_side side);
/* The work of all runs of the side. */
double diff_stacks_work(const struct diff_runs *t, enum diff_side side);

#endif
