/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_groups: runs whose rows are groups of functions, by rules (view/groups/group_rules.h).
 *
 * A call path has the group of its function; a function of the kernel without a group, and a
 * function that is counted for its caller, have the group of the nearest caller, as in reports.
 * Each group is one row. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_GROUPS_H
#define ASSAY_VIEW_DIFF_DIFF_GROUPS_H

#include "view/diff/diff_runs.h"
#include "view/groups/group_rules.h"

/* `out` was initialized and has no runs yet; `in` must outlive its texts of work and values. */
void diff_runs_group(struct diff_runs *out, const struct diff_runs *in, struct group_rules *rules);

#endif
