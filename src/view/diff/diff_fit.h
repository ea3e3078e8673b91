/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_fit: the ratio of two sides of one row, from counts in blocks.
 *
 * A block is a pair of runs, or all runs. Within a block the samples of the row are divided between
 * the sides by chance: B's part of them is binomial, with odds of ratio x exposure of B / exposure
 * of A, and its variance is `dispersion` times the binomial one. A ratio is its logarithm here.
 * Pure functions. Uses: base.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_FIT_H
#define ASSAY_VIEW_DIFF_DIFF_FIT_H

#include <stddef.h>

struct diff_block {
	double a, b;                   /* samples */
	double a_exposure, b_exposure; /* work x samples per ns */
};

/* The logarithm of the ratio; infinite if a side has no samples, NAN if none has. */
double diff_fit_ratio(const struct diff_block *blocks, size_t count);

/* The difference of B's samples to their expected number at this ratio, in standard errors. */
double diff_fit_score(const struct diff_block *blocks, size_t count, double ratio_log,
                      double dispersion);

/* Pearson's dispersion around this ratio; `count` - 1 degrees of freedom. */
double diff_fit_dispersion(const struct diff_block *blocks, size_t count, double ratio_log);

/* The probability of such samples if the true ratio is at most `least` (logarithm, >= 0) away from
 * 1, by chance alone. */
double diff_fit_test(const struct diff_block *blocks, size_t count, double least, double dispersion,
                     double degrees);

/* The ratios at which the score is `quantile` away from 0; bounds may be infinite. */
void diff_fit_interval(const struct diff_block *blocks, size_t count, double dispersion,
                       double quantile, double *low_log, double *high_log);

#endif
