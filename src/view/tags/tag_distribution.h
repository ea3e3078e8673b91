/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_distribution: the distribution of the times of one function's calls.
 *
 * tag_distribution_new() takes a histogram; plain data, in ticks; tag_distribution_free(). A
 * percentile is known only as a step of the histogram, so both ends of the step are given. Nothing
 * fails. One thread. Uses: base, tags.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_DISTRIBUTION_H
#define ASSAY_VIEW_TAGS_TAG_DISTRIBUTION_H

#include "view/document/histogram.h"
#include "view/tags/tag_report.h"

#define TAG_PERCENTILES 3

struct tag_percentile {
	unsigned percent;
	struct histogram_step step; /* the step that contains the percentile */
};

struct tag_distribution {
	struct tag_row row;               /* its report must outlive this */
	bool total;                       /* times include callees; otherwise net */
	uint64_t count;                   /* calls */
	VEC(struct histogram_step) steps; /* from the first step with calls to the last */
	struct tag_percentile percentiles[TAG_PERCENTILES]; /* 50, 90, 99; zeros if there are no
	                                                     * calls */
};

struct tag_distribution *tag_distribution_new(const struct tag_row *row,
                                              const struct tag_histogram *h);
void tag_distribution_free(struct tag_distribution *s);

/*
 * Fills `into` with at most `lines` steps. Each joins 1, 2, 4 ... steps of the histogram, and
 * adjacent steps without calls are one step.
 */
void tag_distribution_coarse(const struct tag_distribution *s, size_t lines, histogram_steps *into);

#endif
