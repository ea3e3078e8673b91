/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share: how sure the shares of a view's groups are, by confidence.h, of the
 * base that a selection has. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SHARE_H
#define ASSAY_VIEW_SHARE_H

#include "view/filter.h"

struct share_group {
	double share;     /* given */
	double low, high; /* 95 % interval of it */
	/*
	 * Shares of the busy samples by the clock and by its witness, where they
	 * differ beyond chance; else z is 0. Idle is left out: its ticks may be
	 * missing for the one and not for the other.
	 */
	double clock, witness, z;
};

/* An array for the groups of all rows of the profile, all ID_NONE; the caller frees it. */
uint32_t *share_groups_new(const struct view *v);

/* group_of: for each row of the profile its group, or ID_NONE. Fills low and high. */
void share_intervals(struct view *v, const struct selection *s, const uint32_t *group_of,
                     struct share_group *groups, size_t count);

/* The same with the rows of the witness in group_of too. Fills witness and z. */
void share_steps(struct view *v, const struct selection *s, const uint32_t *group_of,
                 struct share_group *groups, size_t count);

#endif
