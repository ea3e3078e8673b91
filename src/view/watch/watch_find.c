/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the changes. A series is divided at the point where its levels differ most, and each part
 * again, as long as the difference is significant. With windows the points of one window are
 * compared, and the next window begins in the middle of it. All counts are tested against their
 * exposure: observed time x load x the usual level of the hour.
 */
#include "view/watch/watch_find.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"
#include "view/watch/watch_dispersion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each part has at least this part of the points around it. */
#define TRIM 0.05
/* The deviance is computed only for scores above this. */
#define SKEWED 2
/* Changed functions that change the load by at least this part are removed from the load, one by
 * one. */
#define SHIFT 0.005
#define ROUNDS 8

struct finder {
	struct watch_exposure e;
	double most; /* maximum p of a change of weight 1 */
	double root; /* the mean of the square roots of the samples */
};

/* The part of the crossings of a level by a continuous path that steps of this size see (Siegmund
 * and Yakir). */
static double seen_part(double step)
{
	double below = normal_below(step / 2);
	double density = exp(-step * step / 8) / sqrt(2 * M_PI);

	return 2 / step * (below - 0.5) / (step / 2 * below + density);
}

double watch_split_chance(double z, size_t points)
{
	double density = exp(-z * z / 2) / sqrt(2 * M_PI), p, sum = 0;
	double end = log((1 - TRIM) / TRIM);
	int steps = 24;

	if (z < 1.5)
		return 1;
	/* The integral over the logits of the part before the point; both halves are equal. */
	for (int i = 0; i < steps; i++) {
		double odds = exp((i + 0.5) * end / steps), part = odds / (1 + odds);

		sum += seen_part(z / sqrt((double)points * part * (1 - part)));
	}
	p = density * (z - 1 / z) * 2 * end * sum / steps + 4 * density / z;
	return p < 1 ? p : 1;
}

/* The contribution of a count to the deviance. */
static double deviance(double count, double expected)
{
	return count > 0 ? count * log(count / expected) : 0;
}

/* The distance of two levels: of [first, point) and [point, last). Large distances are the root of
 * the deviance, since the counts of a short side are skewed. */
static double levels_score(const struct finder *f, const struct watch_series *s, size_t first,
                           size_t point, size_t last)
{
	double a = f->e.counts[point] - f->e.counts[first];
	double b = f->e.counts[last] - f->e.counts[point];
	double a_time = f->e.times[point] - f->e.times[first];
	double b_time = f->e.times[last] - f->e.times[point];
	double part = b_time / (a_time + b_time), expected = (a + b) * part, score;

	if (!(a_time > 0) || !(b_time > 0) || a + b < 1)
		return 0;
	score = (b - expected) / sqrt(expected * (1 - part) * s->dispersion);
	if (fabs(score) < SKEWED)
		return score;
	score = 2 * (deviance(b, expected) + deviance(a, (a + b) * (1 - part))) / s->dispersion;
	return copysign(sqrt(fmax(0, score)), b - expected);
}

static double normal_of_student(double t, double degrees)
{
	double tail = student_above(fabs(t), degrees);

	return tail > 0 ? -normal_quantile(tail) : 37;
}

/* The point with the largest score; 0: no part is long enough. */
static size_t best_split(const struct finder *f, const struct watch_series *s, size_t first,
                         size_t last, double *score)
{
	double time = f->e.times[last] - f->e.times[first];
	size_t best = 0;

	*score = 0;
	for (size_t i = first + WATCH_SIDE_LEAST; i + WATCH_SIDE_LEAST <= last; i++) {
		double before = (f->e.times[i] - f->e.times[first]) / time, one;

		if (!(before >= TRIM && before <= 1 - TRIM))
			continue;
		one = levels_score(f, s, first, i, last);
		if (fabs(one) > fabs(*score)) {
			*score = one;
			best = i;
		}
	}
	return best;
}

/* The number of windows that cover `points` points; each has window_points() points. */
static size_t windows_of(const struct watch *w, size_t points)
{
	size_t size = w->how.window, step = size / 2;

	return !size || points <= size ? 1 : 1 + (points - size + step - 1) / step;
}

static size_t window_points(const struct watch *w, size_t points)
{
	return w->how.window && points > w->how.window ? w->how.window : points;
}

/*
 * The chance of the largest score of all windows of [first, last), with its point; *point is 0 if
 * no window is long enough. The last window ends at the last point.
 */
static double search(const struct finder *f, const struct watch_series *s, size_t first,
                     size_t last, size_t *point)
{
	const struct watch *w = f->e.w;
	size_t windows = windows_of(w, last - first), size = window_points(w, last - first);
	double score = 0;

	*point = 0;
	for (size_t i = 0; i < windows; i++) {
		size_t from = i + 1 < windows ? first + i * (size / 2) : last - size, at;
		double one;

		at = best_split(f, s, from, from + size, &one);
		if (at && fabs(one) > fabs(score)) {
			*point = at;
			score = one;
		}
	}
	return fmin(1, (double)windows *
	                       watch_split_chance(normal_of_student(score, s->degrees), size));
}

/* A large function has a larger part of the error rate (Genovese, Roeder and Wasserman): its
 * changes matter more, and can be found. The mean of the weights is 1. */
static double mean_root(const struct watch *w)
{
	double sum = 0;

	vec_each (s, &w->series)
		sum += s->pooled ? 0 : sqrt(s->all_samples);
	return w->tested ? sum / (double)w->tested : 1;
}

static double weight_of(const struct watch_series *s, double mean)
{
	return sqrt(s->all_samples) / mean;
}

/* The maximum p of a change of the series. */
static double most_of(const struct finder *f, const struct watch_series *s)
{
	return fmin(f->e.w->how.confidence, f->most * weight_of(s, f->root));
}

/* Divides [first, last), and lists the points in the order of time. */
static void divide(struct finder *f, uint32_t id, size_t first, size_t last, unsigned depth)
{
	struct watch *w = f->e.w;
	struct watch_series *s = &w->series.items[id];
	size_t point;
	double p = search(f, s, first, last, &point);

	if (!point || p > most_of(f, s) || depth > 20)
		return;
	divide(f, id, first, point, depth + 1);
	vec_push(&w->changes,
	         (struct watch_change){.series = id, .point = point, .p = p, .partner = ID_NONE});
	divide(f, id, point, last, depth + 1);
}

static double value_of(const struct watch *w, const struct watch_series *s, size_t from, size_t to)
{
	double cpu_ns = 0, unit = 0;

	for (size_t i = from; i < to; i++) {
		cpu_ns += s->cpu_ns[i];
		unit += w->work ? w->work[i] : w->wall_s[i];
	}
	return unit > 0 ? cpu_ns / unit : 0;
}

/* The levels before and after a change, up to the changes beside it. */
static void set_levels(const struct finder *f, struct watch_change *c)
{
	const struct watch *w = f->e.w;
	const struct watch_series *s = &w->series.items[c->series];
	double a = f->e.counts[c->point] - f->e.counts[c->first];
	double b = f->e.counts[c->last] - f->e.counts[c->point];
	double a_time = f->e.times[c->point] - f->e.times[c->first];
	double b_time = f->e.times[c->last] - f->e.times[c->point];
	double error = sqrt(s->dispersion * (1 / (a + 0.5) + 1 / (b + 0.5)));
	double wide = student_quantile(0.995, s->degrees), none;

	c->before = value_of(w, s, c->first, c->point);
	c->after = value_of(w, s, c->point, c->last);
	c->ratio = b / b_time / (a / a_time);
	c->low = (b + 0.5) / b_time / ((a + 0.5) / a_time) * exp(-wide * error);
	c->high = (b + 0.5) / b_time / ((a + 0.5) / a_time) * exp(wide * error);
	/* If one side has no samples, the interval is computed from the deviance. */
	none = exp(-wide * wide * s->dispersion / (2 * (a + b)));
	if (!(a > 0)) {
		c->low = a_time / b_time * none / (1 - none);
		c->high = INFINITY;
	}
	if (!(b > 0)) {
		c->low = 0;
		c->high = a_time / b_time * (1 - none) / none;
	}
	c->verdict = !(a > 0)       ? WATCH_NEW
	             : !(b > 0)     ? WATCH_GONE
	             : c->ratio > 1 ? WATCH_REGRESSION
	                            : WATCH_IMPROVEMENT;
}

/* Merges two successive changes after which the first level returned: they are one change that went
 * away. */
static void join_gone(struct finder *f, size_t from)
{
	struct watch *w = f->e.w;

	for (size_t i = from; i + 1 < w->changes.count; i++) {
		struct watch_change *c = &w->changes.items[i], *next = c + 1;
		const struct watch_series *s = &w->series.items[c->series];
		double a = (f->e.counts[c->point] - f->e.counts[c->first]) /
		           (f->e.times[c->point] - f->e.times[c->first]);
		double b = (f->e.counts[c->last] - f->e.counts[c->point]) /
		           (f->e.times[c->last] - f->e.times[c->point]);
		double d = (f->e.counts[next->last] - f->e.counts[next->point]) /
		           (f->e.times[next->last] - f->e.times[next->point]);
		double both = (f->e.times[c->point] - f->e.times[c->first]) * a +
		              (f->e.times[next->last] - f->e.times[next->point]) * d;
		double error = sqrt(s->dispersion * both) /
		               (f->e.times[c->point] - f->e.times[c->first] +
		                f->e.times[next->last] - f->e.times[next->point]);

		if ((b - a) * (d - b) >= 0 || fabs(d - a) > 0.5 * fabs(b - a) + 2 * error)
			continue;
		c->verdict = WATCH_WENT_AWAY;
		c->back = next->point;
		memmove(next, next + 1, (w->changes.count - i - 2) * sizeof(*next));
		w->changes.count--;
	}
}

static void find_series(struct finder *f, uint32_t id)
{
	struct watch *w = f->e.w;
	size_t from = w->changes.count, count;

	watch_exposure_set(&f->e, &w->series.items[id]);
	divide(f, id, 0, w->points, 0);
	count = w->changes.count;
	for (size_t i = from; i < count; i++) {
		struct watch_change *c = &w->changes.items[i];

		c->first = i > from ? c[-1].point : 0;
		c->last = i + 1 < count ? c[1].point : w->points;
		set_levels(f, c);
	}
	join_gone(f, from);
}

/* How much the load changes by the change of the series. */
static void set_shift(const struct finder *f, struct watch_series *s, size_t point)
{
	const double *counts = f->e.counts, *times = f->e.times;
	size_t end = f->e.w->points;
	double a, b;

	s->shift = 0;
	if (!point)
		return;
	a = counts[point] / times[point];
	b = (counts[end] - counts[point]) / (times[end] - times[point]);
	s->shift = fabs(b - a) * times[end] / f->e.w->load_samples;
}

/* Sets p and q of the series, and the p that a change of a series has at most. */
static void test_series(struct finder *f)
{
	struct watch *w = f->e.w;
	double *p = xcalloc(w->series.count + 1, sizeof(*p));

	w->tested = 0;
	vec_each (s, &w->series)
		w->tested += !s->pooled;
	f->root = mean_root(w);
	for (size_t i = 0; i < w->series.count; i++) {
		struct watch_series *s = &w->series.items[i];
		size_t point;

		p[i] = NAN;
		if (s->pooled)
			continue;
		watch_exposure_set(&f->e, s);
		s->p = search(f, s, 0, w->points, &point);
		set_shift(f, s, point);
		p[i] = fmin(1, s->p / weight_of(s, f->root));
	}
	false_discovery_rates(p, w->series.count, p);
	f->most = w->tested ? w->how.rate / (double)w->tested : 0;
	for (size_t i = 0; i < w->series.count; i++) {
		struct watch_series *s = &w->series.items[i];

		s->q = p[i];
		if (p[i] <= w->how.rate)
			f->most = fmax(f->most, s->p / weight_of(s, f->root));
	}
	free(p);
}

/* The end of the interval that is nearest to no change. */
static double nearest(const struct watch_change *c)
{
	return fmax(0, c->ratio > 1 ? c->low - 1 : 1 - c->high);
}

/* Removes small changes, and large ones that may be small. */
static void select_changes(struct watch *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->changes.count; i++) {
		struct watch_change c = w->changes.items[i];

		c.q = w->series.items[c.series].q;
		if (fabs(c.ratio - 1) >= w->how.least && nearest(&c) >= w->how.least / 2)
			w->changes.items[kept++] = c;
	}
	w->changes.count = kept;
}

/* Whether two changes of functions of one file at the same time have no change in sum. */
static bool cancels(const struct watch *w, const struct watch_change *a,
                    const struct watch_change *b)
{
	double x = a->after - a->before, y = b->after - b->before;
	size_t apart = a->point > b->point ? a->point - b->point : b->point - a->point;
	size_t near = (a->last - a->first) / 50 + 2;

	return w->series.items[a->series].image == w->series.items[b->series].image && x * y < 0 &&
	       apart <= near && fabs(x + y) < 0.3 * fmax(fabs(x), fabs(y));
}

static void find_moved(struct watch *w)
{
	vec_each (a, &w->changes)
		vec_each (b, &w->changes)
			if (a->partner == ID_NONE && b->partner == ID_NONE && b > a &&
			    a->verdict != WATCH_WENT_AWAY && b->verdict != WATCH_WENT_AWAY &&
			    cancels(w, a, b)) {
				a->verdict = b->verdict = WATCH_MOVED;
				a->partner = b->series;
				b->partner = a->series;
			}
}

static int by_time(const void *a, const void *b)
{
	const struct watch_change *x = a, *y = b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return x->series < y->series ? -1 : x->series > y->series;
}

/* By bisection: the score with the probability at which the first function is listed. */
static void set_smallest(const struct finder *f)
{
	struct watch *w = f->e.w;
	double weight = sqrt(0.01 * w->samples) / f->root, low = 1.5, high = 30;
	double least = w->how.rate / (double)(w->tested ? w->tested : 1) * weight;
	double *all = xcalloc(w->series.count + 1, sizeof(*all)), spread;
	size_t count = 0, size = window_points(w, w->points), windows = windows_of(w, w->points);
	double samples = 0.01 * w->samples * (double)size / (double)(w->points ? w->points : 1);

	vec_each (s, &w->series)
		if (!s->pooled)
			all[count++] = s->dispersion;
	spread = sort_median(all, count);
	free(all);
	least = least < w->how.confidence ? least : w->how.confidence;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		*((double)windows * watch_split_chance(middle, size) > least ? &low : &high) =
		        middle;
	}
	if (count && samples > 0)
		w->smallest = exp((high + normal_quantile(0.8)) * sqrt(spread * 4 / samples)) - 1;
}

/* A changed function that is a large part of the load would change all other functions. The
 * function with the surest change is removed from the load. */
static bool leave_out(struct watch *w)
{
	struct watch_series *most = NULL;

	vec_each (s, &w->series)
		if (!s->pooled && !s->outside && s->q <= w->how.rate && s->shift > SHIFT &&
		    (!most || s->p < most->p))
			most = s;
	if (most)
		most->outside = true;
	return most;
}

void watch_find(struct watch *w, const struct watch_options *how)
{
	struct finder f = {0};

	w->how = how ? *how : (struct watch_options){0};
	w->how.confidence = w->how.confidence > 0 ? w->how.confidence : 0.001;
	w->how.rate = w->how.rate > 0 ? w->how.rate : 0.1;
	w->how.least = w->how.least > 0 ? w->how.least : 0.1;
	w->seasonal = (double)w->points * (double)w->step_ns >= WATCH_DAYS * 86400e9 &&
	              w->step_ns <= 3600000000000u;
	watch_pool(w);
	watch_exposure_init(&f.e, w);
	for (int round = 0; round < ROUNDS; round++) {
		watch_load_set(w);
		watch_dispersions_set(&f.e);
		test_series(&f);
		if (!leave_out(w))
			break;
	}
	for (uint32_t i = 0; i < w->series.count; i++)
		if (w->series.items[i].q <= w->how.rate)
			find_series(&f, i);
	select_changes(w);
	if (w->changes.count)
		qsort(w->changes.items, w->changes.count, sizeof(*w->changes.items), by_time);
	find_moved(w);
	set_smallest(&f);
	watch_exposure_done(&f.e);
}
