/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_join: files that have another name on each side, such as prog-old and prog-new.
 *
 * diff_join_images() finds pairs of files, one only in A and one only in B, that have most function
 * names in common. Rows of the file in B become rows of the file in A; runs->joined lists the
 * pairs. It is called once, after the last run was added. Uses: base.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_JOIN_H
#define ASSAY_VIEW_DIFF_DIFF_JOIN_H

#include "view/diff/diff_runs.h"

void diff_join_images(struct diff_runs *t);

#endif
