/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_whole.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>

/*
 * The whole is shown in each comparison, besides the rows. Its interval is wider than the intervals
 * of rows, so that both together are wrong in fewer than 5 of 100 comparisons.
 */
#define CONFIDENCE 0.99
/* With fewer pairs, comparing pairs loses more degrees of freedom than it gains. */
#define PAIRS_MIN 5
#define POWER 0.8
/* Two recordings do not show the scatter between runs; this is the scatter on a machine in use. */
#define ONE_RUN_ERROR 0.15
#define ONE_RUN_DEGREES 20
/* A time that does not vary has n or n + 1 samples: a standard deviation of at most half a sample.
 * Few runs that are equal by chance do not prove less. */
#define GRAIN_ERROR 0.5

/* The logarithm of CPU time per work of each run, and the variance that it has at least. */
static void add_logs(const struct diff_table *t, double *logs, double *grain,
                     struct diff_estimate *e)
{
	double cpu_ns[DIFF_SIDES] = {0}, work[DIFF_SIDES] = {0};

	for (size_t i = 0; i < t->width; i++) {
		const struct diff_run *run = &t->runs->runs.items[i];
		double sum = 0;

		vec_each (path, &run->paths) {
			sum += path->cpu_ns;
			e->count[run->side] += path->count;
		}
		/* A run without samples is counted as less than one sample. */
		logs[i] = log(fmax(sum, t->run_grain[i] / 2) / run->work);
		grain[i] = GRAIN_ERROR * t->run_grain[i] / fmax(sum, t->run_grain[i] / 2);
		grain[i] *= grain[i];
		cpu_ns[run->side] += sum;
		work[run->side] += run->work;
	}
	e->before = work[DIFF_A] > 0 ? cpu_ns[DIFF_A] / work[DIFF_A] : 0;
	e->after = work[DIFF_B] > 0 ? cpu_ns[DIFF_B] / work[DIFF_B] : 0;
}

/* The standard error of the difference of the sides if no run varies but by its samples. */
static double least_error(const struct diff_table *t, const double *grain)
{
	double variance[DIFF_SIDES] = {0};

	for (size_t i = 0; i < t->width; i++)
		variance[t->runs->runs.items[i].side] += grain[i];
	for (int side = 0; side < DIFF_SIDES; side++) {
		double runs = (double)t->runs->count[side];

		variance[side] /= runs * runs;
	}
	return sqrt(variance[DIFF_A] + variance[DIFF_B]);
}

static struct mean_interval of_pairs(const struct diff_table *t, const double *logs)
{
	size_t pairs = t->runs->count[DIFF_A];
	double *difference = xcalloc(pairs, sizeof(*difference));
	struct mean_interval m;

	for (size_t i = 0; i < pairs; i++)
		difference[i] = logs[t->side_runs[DIFF_B][i]] - logs[t->side_runs[DIFF_A][i]];
	m = mean_interval(difference, pairs, CONFIDENCE);
	free(difference);
	return m;
}

/* All runs have the same scatter. */
static struct mean_interval of_sides(const struct diff_table *t, const double *logs,
                                     double *degrees)
{
	double mean[DIFF_SIDES] = {0}, squares = 0, error = ONE_RUN_ERROR;
	double a = (double)t->runs->count[DIFF_A], b = (double)t->runs->count[DIFF_B];
	struct mean_interval m = {NAN, NAN, NAN, NAN, NAN, NAN};

	if (!t->runs->count[DIFF_A] || !t->runs->count[DIFF_B])
		return m;
	for (size_t i = 0; i < t->width; i++)
		mean[t->runs->runs.items[i].side] +=
		        logs[i] / (double)t->runs->count[t->runs->runs.items[i].side];
	for (size_t i = 0; i < t->width; i++) {
		double off = logs[i] - mean[t->runs->runs.items[i].side];

		squares += off * off;
	}
	*degrees = a + b - 2;
	if (*degrees > 0)
		error = sqrt(squares / *degrees);
	else
		*degrees = ONE_RUN_DEGREES;
	m.mean = mean[DIFF_B] - mean[DIFF_A];
	m.error = 0;
	m.degrees = *degrees;
	return mean_interval_rounded(m, error * sqrt(1 / a + 1 / b), CONFIDENCE);
}

void diff_whole(struct diff *d, const struct diff_table *t)
{
	double *logs = xcalloc(t->width + 1, sizeof(*logs)), level;
	double *grain = xcalloc(t->width + 1, sizeof(*grain));
	struct diff_estimate *e = &d->whole;
	struct mean_interval m;

	add_logs(t, logs, grain, e);
	e->degrees = (double)t->runs->count[DIFF_A] - 1;
	m = t->paired && t->runs->count[DIFF_A] >= PAIRS_MIN ? of_pairs(t, logs)
	                                                     : of_sides(t, logs, &e->degrees);
	m.degrees = e->degrees;
	m = mean_interval_rounded(m, least_error(t, grain), CONFIDENCE);
	level = student_quantile((1 + CONFIDENCE) / 2, e->degrees);
	e->error_log = (m.high - m.low) / 2 / level;
	e->ratio = exp(m.mean);
	e->low = exp(m.low);
	e->high = exp(m.high);
	e->dispersion = NAN;
	e->p = e->q = 2 * student_above(fabs(m.mean) / e->error_log, e->degrees);
	e->verdict = m.low > 0 || m.high < 0 ? DIFF_CHANGED : DIFF_SAME;
	if (!(e->before > 0) || !(e->after > 0)) {
		e->ratio = e->low = e->high = NAN;
		e->verdict = DIFF_SAME;
	}
	if (d->untested) {
		e->low = e->high = e->p = e->q = e->error_log = NAN;
		e->verdict = DIFF_SAME;
	}
	d->smallest_whole = expm1((level + student_quantile(POWER, e->degrees)) * e->error_log);
	free(logs);
	free(grain);
}
