/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share: 95 % intervals for the groups of a view, each a share of the
 * selection's base. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SHARE_H
#define ASSAY_VIEW_SHARE_H

#include "view/filter.h"

struct share_group {
	double share, low, high;
};

/*
 * group_of: for each row of the profile its group, or ID_NONE. Fills low and
 * high of each group from `share`, which is set already.
 */
void share_intervals(struct view *v, const struct selection *s, const uint32_t *group_of,
                     struct share_group *groups, size_t count);

#endif
