/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/statistics/samples.h"

#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"

#include <math.h>
#include <stdlib.h>

double sorted_quantile(const double *sorted, size_t count, double at)
{
	double place = at * (double)(count - 1);
	size_t below = (size_t)place;

	if (!count)
		return NAN;
	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

double sort_median(double *values, size_t count)
{
	sorted_doubles(values, count);
	return sorted_quantile(values, count, 0.5);
}

/* The mean, and the variance of one value. */
static double mean_of(const double *values, size_t count, double *variance)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	sum /= (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - sum) * (values[i] - sum);
	*variance = count > 1 ? squares / (double)(count - 1) : NAN;
	return count ? sum : NAN;
}

static struct mean_interval interval(double mean, double error, double degrees, double confidence)
{
	double half = error > 0 ? error * student_quantile((1 + confidence) / 2, degrees) : error;

	return (struct mean_interval){mean, mean - half, mean + half, NAN, error, degrees};
}

struct mean_interval mean_interval(const double *values, size_t count, double confidence)
{
	double variance, mean = mean_of(values, count, &variance);
	struct mean_interval m =
	        interval(mean, sqrt(variance / (double)count), (double)count - 1, confidence);

	m.deviation = sqrt(variance);
	return m;
}

struct mean_interval mean_difference(const double *a, size_t a_count, const double *b,
                                     size_t b_count, double confidence)
{
	double va, vb, ma = mean_of(a, a_count, &va), mb = mean_of(b, b_count, &vb), degrees;
	struct mean_interval m;

	va /= (double)a_count;
	vb /= (double)b_count;
	degrees = (va + vb) * (va + vb) /
	          (va * va / ((double)a_count - 1) + vb * vb / ((double)b_count - 1));
	m = interval(mb - ma, sqrt(va + vb), degrees, confidence);
	m.deviation = sqrt((va * (double)a_count + vb * (double)b_count) / 2);
	return m;
}

struct mean_interval mean_interval_rounded(struct mean_interval m, double error, double confidence)
{
	struct mean_interval wider = interval(m.mean, error, m.degrees, confidence);

	wider.deviation = m.deviation;
	return m.error < error ? wider : m;
}

double mean_probability(const struct mean_interval *m)
{
	if (isnan(m->low) || isnan(m->degrees))
		return NAN;
	if (!(m->error > 0))
		return m->mean == 0 ? 1 : 0;
	return 2 * student_above(fabs(m->mean) / m->error, m->degrees);
}

struct ranked {
	double p;
	size_t place;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The tests in the order of p; returns their number. NaN is copied to `result`. */
static size_t rank(const double *p, size_t count, double *result, struct ranked *tests)
{
	size_t tested = 0;

	for (size_t i = 0; i < count; i++) {
		if (isnan(p[i]))
			result[i] = p[i];
		else
			tests[tested++] = (struct ranked){p[i], i};
	}
	if (tested)
		qsort(tests, tested, sizeof(*tests), by_p);
	return tested;
}

void family_error_rates(const double *p, size_t count, double *adjusted)
{
	struct ranked *tests = xcalloc(count + 1, sizeof(*tests));
	size_t tested = rank(p, count, adjusted, tests);
	double most = 0;

	for (size_t i = 0; i < tested; i++) {
		most = fmin(1, fmax(most, tests[i].p * (double)(tested - i)));
		adjusted[tests[i].place] = most;
	}
	free(tests);
}

void false_discovery_rates(const double *p, size_t count, double *q)
{
	struct ranked *tests = xcalloc(count + 1, sizeof(*tests));
	size_t tested = rank(p, count, q, tests);
	double least = 1;

	for (size_t i = tested; i-- > 0;) {
		least = fmin(least, tests[i].p * (double)tested / (double)(i + 1));
		q[tests[i].place] = least;
	}
	free(tests);
}
