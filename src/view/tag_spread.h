/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_spread: how the times of one function's calls are spread.
 *
 * tag_spread_new() of a histogram; plain data, ticks; tag_spread_free(). A percentile
 * lies somewhere in its step: both ends are given, for times within a step are not told
 * apart. Nothing fails. One thread. Uses: base, trace.
 */
#ifndef ASSAY_VIEW_TAG_SPREAD_H
#define ASSAY_VIEW_TAG_SPREAD_H

#include "view/tag_report.h"

struct tag_spread_step {
	uint64_t from, to; /* [from, to) */
	uint64_t count;
};

#define TAG_PERCENTILES 3

struct tag_percentile {
	unsigned percent;
	struct tag_spread_step step; /* that it lies in */
};

struct tag_spread {
	struct tag_row row;                /* its report must outlive this */
	bool total;                        /* times are with callees; else net */
	uint64_t count;                    /* calls */
	VEC(struct tag_spread_step) steps; /* from the first that has calls to the last */
	struct tag_percentile percentiles[TAG_PERCENTILES]; /* 50, 90, 99; nothing of no calls */
};

typedef VEC(struct tag_spread_step) tag_spread_steps;

struct tag_spread *tag_spread_new(const struct tag_row *row, const struct tag_histogram *h);
void tag_spread_free(struct tag_spread *s);

/*
 * At most `lines` steps, each of 1, 2, 4 ... of those there are, and neighbours without a call
 * as one; into an empty one.
 */
void tag_spread_coarse(const struct tag_spread *s, size_t lines, tag_spread_steps *into);

#endif
