/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_range: the number, sums and bounds of the times of complete calls.
 *
 * An average and its bounds come from one range, so that min <= average <= max. Plain data, in
 * ticks; TAG_RANGE_NONE is empty. Nothing fails. Uses: nothing.
 */
#ifndef ASSAY_TAGS_TAG_RANGE_H
#define ASSAY_TAGS_TAG_RANGE_H

#include <stdint.h>

struct tag_bounds {
	uint64_t sum, min, max; /* without calls: min > max */
};

struct tag_range {
	uint64_t calls;
	struct tag_bounds net, total; /* total: with callees, without time switched out */
};

#define TAG_RANGE_NONE                                                                             \
	((struct tag_range){.net = {.min = UINT64_MAX}, .total = {.min = UINT64_MAX}})

static inline void tag_bounds_add(struct tag_bounds *to, const struct tag_bounds *from)
{
	to->sum += from->sum;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
}

static inline void tag_range_add(struct tag_range *to, const struct tag_range *from)
{
	to->calls += from->calls;
	tag_bounds_add(&to->net, &from->net);
	tag_bounds_add(&to->total, &from->total);
}

#endif
