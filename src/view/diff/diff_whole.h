/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff_whole: the change of the sum of all rows, by a t test of its logarithm. Uses: base. */
#ifndef ASSAY_VIEW_DIFF_DIFF_WHOLE_H
#define ASSAY_VIEW_DIFF_DIFF_WHOLE_H

#include "view/diff/diff.h"
#include "view/diff/diff_table.h"

/* Sets d->whole and d->smallest_whole. */
void diff_whole(struct diff *d, const struct diff_table *t);

#endif
