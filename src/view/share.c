/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/share.h"

#include <math.h>

void share_intervals(struct view *v, const struct selection *s, const uint32_t *group_of,
                     struct share_group *groups, size_t count)
{
	double n = (double)s->base_samples, z = 1.959964;

	(void)v;
	(void)group_of;
	for (size_t i = 0; i < count && n > 0; i++) {
		double p = groups[i].share, d = 1 + z * z / n;
		double middle = (p + z * z / (2 * n)) / d;
		double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d;

		groups[i].low = middle - half < 0 ? 0 : middle - half;
		groups[i].high = middle + half > 1 ? 1 : middle + half;
	}
}
