/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_confidence: confidence intervals (confidence.h) of the shares of a view's groups, relative
 * to the base of a selection. Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CONFIDENCE_GROUP_CONFIDENCE_H
#define ASSAY_VIEW_CONFIDENCE_GROUP_CONFIDENCE_H

#include "view/filter.h"

struct group_confidence_group {
	double share;     /* input */
	double low, high; /* 95 % interval of `share` */
	/*
	 * Shares of the busy samples by the clock and by the witness if they differ significantly;
	 * otherwise z is 0. Idle time is excluded, because its ticks may be missing for only one of
	 * the two.
	 */
	double clock, witness, z;
	double witness_low, witness_high; /* 95 % interval of `witness` */
};

/* An array with a group for each row of the profile, all ID_NONE; the caller frees it. */
uint32_t *group_confidence_groups_new(const struct view *v);

/* group_of: the group of each row of the profile, or ID_NONE. Fills low and high. */
void group_confidence_intervals(struct view *v, const struct selection *s, const uint32_t *group_of,
                                struct group_confidence_group *groups, size_t count);

/* As group_confidence_intervals(), but group_of includes the witness's rows. Fills clock, witness,
 * its interval, and z. */
void group_confidence_steps(struct view *v, const struct selection *s, const uint32_t *group_of,
                            struct group_confidence_group *groups, size_t count);

/* If the clocks differ, one of them is wrong: extends low and high to both intervals. */
void group_confidence_span(struct group_confidence_group *g);

#endif
