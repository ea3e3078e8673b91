/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_confidence: confidence intervals (confidence.h) of the shares of a view's groups, relative
 * to the base of a selection. Each table and each medium takes its intervals from here, so a row
 * has the same interval in all of them. Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CONFIDENCE_GROUP_CONFIDENCE_H
#define ASSAY_VIEW_CONFIDENCE_GROUP_CONFIDENCE_H

#include "view/filter.h"

struct group_confidence_group {
	double share; /* input */
	/* 95 % interval of `share`. If the second clock measured another share, one of the clocks
	 * is wrong, and the interval contains the intervals of both. */
	double low, high;
	double clock_low, clock_high; /* by the first clock alone */
	/*
	 * Shares of the busy samples by both clocks, if they differ beyond chance (one false alarm
	 * in 500 recordings, for any number of groups); otherwise both are 0. Idle time is
	 * excluded, because its ticks may be missing for only one of the two.
	 */
	double clock, witness;
};

/* An array with a group for each row of the profile, all ID_NONE; the caller frees it. */
uint32_t *group_confidence_groups_new(const struct view *v);

/*
 * group_of: the group of each row of the profile, or ID_NONE, also of the rows of the second clock
 * (selection.witness).
 */
void group_confidence_intervals(struct view *v, const struct selection *s, const uint32_t *group_of,
                                struct group_confidence_group *groups, size_t count);

#endif
