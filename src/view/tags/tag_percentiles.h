/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_percentiles: percentiles of the net of one call, with the rules of counted calls
 * (profile/calls/call_times.h). No state. Nothing fails. Any thread. Uses: tags, profile.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_PERCENTILES_H
#define ASSAY_VIEW_TAGS_TAG_PERCENTILES_H

#include "tags/tag_times.h"

#define TAG_TIMED_PERCENTILES 3 /* 50, 90, 99 */

struct tag_percentiles {
	uint64_t timed;                      /* calls with a certain duration */
	double ticks[TAG_TIMED_PERCENTILES]; /* NAN: too few calls were timed */
};

/* `calls`: number of the function's calls, timed or not; min and max: bounds of their times, in
 * ticks. */
struct tag_percentiles tag_percentiles_of(const struct tag_times *t, uint32_t function,
                                          uint64_t calls, uint64_t min, uint64_t max);

#endif
