/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_scatter.h"

#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD_MAX 4.0
#define DEGREES_MIN 2
#define DEGREES_MAX 60
#define DEGREES_FEW 4 /* degrees of freedom of classes with few rows */
#define ROWS_FEW 5
#define DISPERSION_MIN 1e-3
/* Of clear_page_erms, between 120 runs of a compiler. */
#define SPREAD_PAGES 1.0
/* Exact times that are equal in all runs have at least this relative scatter. */
#define SPREAD_EXACT 1e-8
/* A row with a larger dispersion than this part of its class is not predicted by the class. */
#define OUTLIER 0.01

static double typical(const struct diff_scatter *s, double mean)
{
	return s->floor + s->spread * mean;
}

/* Sorted logarithms of the ratios of dispersions to the typical dispersion. */
static void relative(const struct diff_scatter *s, const struct diff_scattered *rows, size_t count,
                     double *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = log(fmax(rows[i].dispersion, DISPERSION_MIN * typical(s, rows[i].mean)) /
		             typical(s, rows[i].mean));
	sorted_doubles(out, count);
}

/* The mean without a tenth of the values at each end. */
static double middle_mean(const double *sorted, size_t count)
{
	size_t cut = count / 10;
	double sum = 0;

	for (size_t i = cut; i < count - cut; i++)
		sum += sorted[i];
	return sum / (double)(count - 2 * cut);
}

/* The logarithm of an F value of so many degrees has this mean. */
static double mean_log_ratio(double degrees, double class_degrees)
{
	return digamma(degrees / 2) - log(degrees / 2) - digamma(class_degrees / 2) +
	       log(class_degrees / 2);
}

static void fit_spread(struct diff_scatter *s, const struct diff_scattered *rows, size_t count,
                       double degrees, double *work)
{
	double low = s->floor > 0 ? 0 : SPREAD_EXACT, high = SPREAD_MAX;
	double wanted = mean_log_ratio(degrees, s->degrees);

	for (int i = 0; i < 40; i++) {
		s->spread = (low + high) / 2;
		relative(s, rows, count, work);
		if (middle_mean(work, count) > wanted)
			low = s->spread;
		else
			high = s->spread;
	}
	s->spread = low;
}

static void fit_degrees(struct diff_scatter *s, const struct diff_scattered *rows, size_t count,
                        double degrees, double *work)
{
	double mean = 0, variance = 0;

	if (count < ROWS_FEW) {
		s->degrees = DEGREES_FEW;
		return;
	}
	relative(s, rows, count, work);
	for (size_t i = 0; i < count; i++)
		mean += work[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		variance += (work[i] - mean) * (work[i] - mean) / (double)(count - 1);
	variance -= trigamma(degrees / 2);
	s->degrees = variance > 0 ? 2 * trigamma_inverse(variance) : DEGREES_MAX;
	s->degrees = fmax(DEGREES_MIN, fmin(s->degrees, DEGREES_MAX));
}

struct diff_scatter diff_scatter_of_runs(const struct diff_scattered *rows, size_t count,
                                         double degrees, double floor)
{
	struct diff_scatter s = {floor, floor > 0 ? 0 : SPREAD_EXACT, DEGREES_FEW};
	double *work = xcalloc(count + 1, sizeof(*work));

	/* The two values depend on each other; a few rounds are enough. */
	for (int round = 0; count && round < 6; round++) {
		fit_spread(&s, rows, count, degrees, work);
		fit_degrees(&s, rows, count, degrees, work);
	}
	free(work);
	return s;
}

/* The spread with which this part of the rows is within `z` standard errors of no change. */
static double spread_within(const struct diff_ratio *rows, size_t count, double part, double z,
                            double *work)
{
	double low = 0, high = SPREAD_MAX;

	for (int i = 0; i < 40; i++) {
		double spread = i ? (low + high) / 2 : 0;

		for (size_t j = 0; j < count; j++)
			work[j] = fabs(rows[j].ratio_log) / sqrt(rows[j].variance + 2 * spread);
		sorted_doubles(work, count);
		if (sorted_quantile(work, count, part) > z)
			low = spread;
		else if (!i)
			return 0;
		else
			high = spread;
	}
	return low;
}

/* If there are few rows, most of them may have changed. Their ratios are not used then; this is the
 * spread. */
#define PAIR_SPREAD_FEW 0.04
#define PAIR_DEGREES 50

struct diff_scatter diff_scatter_of_ratios(const struct diff_ratio *rows, size_t count,
                                           double floor)
{
	struct diff_scatter s = {floor, count < DIFF_PAIR_ROWS_FEW ? PAIR_SPREAD_FEW : 0,
	                         PAIR_DEGREES};
	double *work = xcalloc(count + 1, sizeof(*work));

	if (count >= DIFF_PAIR_ROWS_FEW) {
		s.spread = fmax(s.spread, spread_within(rows, count, 0.5, 0.6745, work));
		s.spread = fmax(s.spread, spread_within(rows, count, 0.8, 1.2816, work));
	}
	free(work);
	return s;
}

double diff_scatter_of_name(const char *function)
{
	static const char *const pages[] = {"clear_page", "clear_huge_page", "clear_highpage",
	                                    "copy_page",  "copy_highpage",   "copy_folio"};

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (!strncmp(function, pages[i], strlen(pages[i])))
			return SPREAD_PAGES;
	return 0;
}

double diff_scatter_shrink(const struct diff_scatter *s, double mean, double own, double degrees,
                           double *all_degrees)
{
	double prior = typical(s, mean);
	double both = (s->degrees * prior + degrees * own) / (s->degrees + degrees);

	*all_degrees = s->degrees + degrees;
	if (degrees > 0 && own > both && ratio_above(own / prior, degrees, s->degrees) < OUTLIER) {
		*all_degrees = degrees;
		both = own;
	}
	return fmax(both, s->floor);
}
