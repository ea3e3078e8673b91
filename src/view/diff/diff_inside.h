/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_inside: finds the causes of listed changes: call paths that changed, and time that only
 * moved between functions (inlining, for example). Uses: base.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_INSIDE_H
#define ASSAY_VIEW_DIFF_DIFF_INSIDE_H

#include "view/diff/diff.h"
#include "view/diff/diff_scatter.h"
#include "view/diff/diff_table.h"

/* Sets `moved` of the changes, and d->paths. `scatter`: of each class. */
void diff_inside(struct diff *d, const struct diff_table *t, const struct diff_scatter *scatter);

#endif
