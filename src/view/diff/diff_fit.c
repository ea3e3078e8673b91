/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_fit.h"

#include "base/statistics/distributions.h"

#include <math.h>

#define RATIO_LOG_MAX 40

/* B's expected part of a block. */
static double part_of(const struct diff_block *k, double ratio_log)
{
	double odds = exp(ratio_log) * k->b_exposure / k->a_exposure;

	return odds / (1 + odds);
}

/* Number of B's samples above their expected number at this ratio; it decreases with the ratio. */
static double excess(const struct diff_block *blocks, size_t count, double ratio_log)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += blocks[i].b - (blocks[i].a + blocks[i].b) * part_of(&blocks[i], ratio_log);
	return sum;
}

double diff_fit_score(const struct diff_block *blocks, size_t count, double ratio_log,
                      double dispersion)
{
	double variance = 0;

	for (size_t i = 0; i < count; i++) {
		double p = part_of(&blocks[i], ratio_log);

		variance += (blocks[i].a + blocks[i].b) * p * (1 - p);
	}
	return excess(blocks, count, ratio_log) / sqrt(variance * dispersion);
}

/* Where a falling function of the ratio crosses `wanted`. */
typedef double falling_fn(const struct diff_block *blocks, size_t count, double ratio_log,
                          double dispersion);

static double crossing(falling_fn *f, const struct diff_block *blocks, size_t count,
                       double dispersion, double wanted)
{
	double low = -RATIO_LOG_MAX, high = RATIO_LOG_MAX;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (f(blocks, count, middle, dispersion) > wanted)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static double plain_excess(const struct diff_block *blocks, size_t count, double ratio_log,
                           double unused)
{
	(void)unused;
	return excess(blocks, count, ratio_log);
}

double diff_fit_ratio(const struct diff_block *blocks, size_t count)
{
	double a = 0, b = 0;

	for (size_t i = 0; i < count; i++) {
		a += blocks[i].a;
		b += blocks[i].b;
	}
	if (!(a > 0) || !(b > 0))
		return a > 0 ? -INFINITY : b > 0 ? INFINITY : NAN;
	if (count == 1)
		return log(b / blocks->b_exposure) - log(a / blocks->a_exposure);
	return crossing(plain_excess, blocks, count, 1, 0);
}

double diff_fit_dispersion(const struct diff_block *blocks, size_t count, double ratio_log)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double n = blocks[i].a + blocks[i].b, p = part_of(&blocks[i], ratio_log);
		double off = blocks[i].b - n * p;

		if (n > 0 && p > 0 && p < 1)
			sum += off * off / (n * p * (1 - p));
	}
	return sum / (double)(count - 1);
}

double diff_fit_test(const struct diff_block *blocks, size_t count, double least, double dispersion,
                     double degrees)
{
	double near = diff_fit_score(blocks, count, least, dispersion);
	double far = diff_fit_score(blocks, count, -least, dispersion);

	/* Between the two bounds the ratio is no change. */
	if (isnan(near) || isnan(far) || (near <= 0 && far >= 0))
		return 1;
	if (near > 0)
		return fmin(1, student_above(near, degrees) + student_above(far, degrees));
	return fmin(1, student_below(near, degrees) + student_below(far, degrees));
}

void diff_fit_interval(const struct diff_block *blocks, size_t count, double dispersion,
                       double quantile, double *low_log, double *high_log)
{
	double ratio_log = diff_fit_ratio(blocks, count);

	*low_log = -INFINITY;
	*high_log = INFINITY;
	if (ratio_log > -INFINITY)
		*low_log = crossing(diff_fit_score, blocks, count, dispersion, quantile);
	if (ratio_log < INFINITY)
		*high_log = crossing(diff_fit_score, blocks, count, dispersion, -quantile);
}
