/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples: figures of a list of measured values, and of a list of tests. Pure functions; the result
 * for an empty list is NaN. Uses: base.
 */
#ifndef ASSAY_BASE_STATISTICS_SAMPLES_H
#define ASSAY_BASE_STATISTICS_SAMPLES_H

#include <stddef.h>

/* Interpolates between the two nearest values of a sorted list; `at` is 0 to 1. */
double sorted_quantile(const double *sorted, size_t count, double at);

/* Sorts the values. */
double sort_median(double *values, size_t count);

struct mean_interval {
	double mean, low, high;
	double deviation; /* standard deviation of one value */
	double error;     /* standard error of the mean */
	double degrees;   /* of freedom */
};

/* The mean and its two-sided t interval, for example of `confidence` 0.95. The bounds of fewer than
 * two values are NaN. */
struct mean_interval mean_interval(const double *values, size_t count, double confidence);

/* The difference of two means, b - a, with Welch's interval. */
struct mean_interval mean_difference(const double *a, size_t a_count, const double *b,
                                     size_t b_count, double confidence);

/* The same with a standard error of at least `error`, for values that are rounded. */
struct mean_interval mean_interval_rounded(struct mean_interval m, double error, double confidence);

/* The two-sided t test of a mean of 0. NAN: there is no interval. */
double mean_probability(const struct mean_interval *m);

/*
 * Holm: the smallest level at which each test is still reported if the chance of any false report
 * is at most that level. adjusted[i] belongs to p[i]; the lists may be the same. NaN is not a test,
 * and stays NaN.
 */
void family_error_rates(const double *p, size_t count, double *adjusted);

/*
 * Benjamini and Hochberg: the smallest false discovery rate at which each test is still reported.
 * q[i] belongs to p[i]; the lists may be the same. NaN is not a test, and stays NaN.
 */
void false_discovery_rates(const double *p, size_t count, double *q);

#endif
