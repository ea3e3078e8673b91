/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the changes. A series is divided at the point where its levels differ most, and each part
 * again, as long as the difference is significant. All counts are tested against their exposure:
 * observed time x load x the usual level of the hour.
 */
#include "view/watch/watch_find.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A series with a larger share of the time is not part of the load. */
#define LOAD_SHARE 0.05
/* If the others have less than this share, all series are. */
#define LOAD_LEAST 0.2
/* Each part has at least this part of the points around it, and this many points. */
#define TRIM 0.05
#define POINTS_LEAST 3
/* The usual level of an hour is mixed with this many samples of the mean level. */
#define HOUR_SAMPLES 30
/* At least this many blocks for a dispersion. */
#define BLOCKS_LEAST 16
#define LENGTHS 12
/* With fewer pairs of blocks a dispersion is not known. */
#define PAIRS_LEAST 4
/* The same of blocks with fewer samples. */
#define BLOCK_SAMPLES 5
/* An own dispersion with this probability under the typical one is clearly larger. */
#define CLEARLY 0.995
/* Degrees of freedom of a typical dispersion. */
#define CLASS_DEGREES 200
/* The weight of the typical dispersion beside an own one that is clearly larger. */
#define OWN_DEGREES 10

struct finder {
	struct watch *w;
	double *exposure;       /* of one series, by point */
	double most;            /* p of a change, at most */
	double *counts, *times; /* sums of samples and exposure before a point */
	double spread[LENGTHS]; /* typical, between blocks of 2^i points */
};

double watch_split_chance(double z)
{
	double density = exp(-z * z / 2) / sqrt(2 * M_PI), p;

	if (z < 1.5)
		return 1;
	p = density * (z - 1 / z) * 2 * log((1 - TRIM) / TRIM) + 4 * density / z;
	return p < 1 ? p : 1;
}

static void set_load(struct watch *w)
{
	double all = 0, small = 0, wall_s = 0, sum = 0;

	vec_each (s, &w->series)
		all += s->all_samples;
	vec_each (s, &w->series)
		small += s->all_samples < LOAD_SHARE * all ? s->all_samples : 0;
	vec_each (s, &w->series)
		if (small < LOAD_LEAST * all || s->all_samples < LOAD_SHARE * all)
			for (size_t i = 0; i < w->points; i++)
				w->load[i] += s->samples[i];
	for (size_t i = 0; i < w->points; i++) {
		wall_s += w->wall_s[i];
		sum += w->wall_s[i] > 0 ? w->load[i] : 0;
	}
	/* The mean load is 1. */
	for (size_t i = 0; i < w->points; i++)
		w->load[i] =
		        w->wall_s[i] > 0 && sum > 0 ? w->load[i] / w->wall_s[i] * wall_s / sum : 0;
}

static size_t hour_of(const struct finder *f, size_t point)
{
	uint64_t day_ns = UINT64_C(86400000000000);

	return (size_t)(watch_time_ns(f->w, point) % day_ns / (day_ns / WATCH_HOURS));
}

/* Multiplies the exposure by the usual level of each hour. */
static void set_season(struct finder *f, const struct watch_series *s)
{
	double counts[WATCH_HOURS] = {0}, times[WATCH_HOURS] = {0}, count = 0, time = 0;

	for (size_t i = 0; i < f->w->points; i++) {
		double samples = f->exposure[i] > 0 ? s->samples[i] : 0;

		counts[hour_of(f, i)] += samples;
		times[hour_of(f, i)] += f->exposure[i];
		count += samples;
		time += f->exposure[i];
	}
	for (size_t i = 0; i < f->w->points; i++) {
		size_t hour = hour_of(f, i);
		double usual = times[hour] * count / time;

		f->exposure[i] *= (counts[hour] + HOUR_SAMPLES) / (usual + HOUR_SAMPLES);
	}
}

static void set_exposure(struct finder *f, const struct watch_series *s)
{
	const struct watch *w = f->w;
	double count = 0, time = 0;

	for (size_t i = 0; i < w->points; i++)
		f->exposure[i] = w->wall_s[i] * (w->how.by_wall ? 1 : w->load[i]);
	if (w->seasonal)
		set_season(f, s);
	for (size_t i = 0; i < w->points; i++) {
		f->counts[i] = count;
		f->times[i] = time;
		count += f->exposure[i] > 0 ? s->samples[i] : 0;
		time += f->exposure[i];
	}
	f->counts[w->points] = count;
	f->times[w->points] = time;
}

/* Neighbouring blocks are compared: a change of the level is in one pair only, and the two largest
 * pairs are left out. */
static double block_dispersion(const struct finder *f, size_t length, double *pairs)
{
	double sum = 0, most[2] = {0}, count = 0, cut;

	for (size_t i = 0; i + 2 * length <= f->w->points; i += 2 * length) {
		double a = f->counts[i + length] - f->counts[i];
		double b = f->counts[i + 2 * length] - f->counts[i + length];
		double a_time = f->times[i + length] - f->times[i];
		double b_time = f->times[i + 2 * length] - f->times[i + length];
		double part = a_time / (a_time + b_time), off = a - (a + b) * part;
		double one;

		if (!(a_time > 0) || !(b_time > 0) || a + b < 1)
			continue;
		one = off * off / ((a + b) * part * (1 - part));
		sum += one;
		most[1] = fmax(most[1], fmin(one, most[0]));
		most[0] = fmax(most[0], one);
		count++;
	}
	*pairs = count;
	if (count < PAIRS_LEAST)
		return 1;
	/* The part of the sum of squares of normal values that the others have. */
	cut = chi_square_quantile(1 - 2 / count, 1);
	return (sum - most[0] - most[1]) / (count * chi_square_below(cut, 3));
}

static size_t lengths_of(const struct watch *w)
{
	size_t lengths = 1;

	while (lengths < LENGTHS && ((size_t)BLOCKS_LEAST << lengths) <= w->points)
		lengths++;
	return lengths;
}

static double block_mean(const struct watch *w, const struct watch_series *s, size_t length)
{
	return s->all_samples / (double)w->points * (double)length;
}

/* The typical relative change between blocks, squared, at each length of a block. */
static void set_scatter(struct finder *f)
{
	struct watch *w = f->w;
	size_t lengths = lengths_of(w), used[LENGTHS] = {0};
	double *rows = xcalloc(w->series.count * lengths + 1, sizeof(*rows));

	vec_each (s, &w->series) {
		if (s->pooled)
			continue;
		set_exposure(f, s);
		for (size_t i = 0; i < lengths; i++) {
			double mean = block_mean(w, s, (size_t)1 << i), pairs;
			double own = block_dispersion(f, (size_t)1 << i, &pairs);

			if (mean >= BLOCK_SAMPLES && pairs >= PAIRS_LEAST)
				rows[i * w->series.count + used[i]++] = (own - 1) / mean;
		}
	}
	for (size_t i = 0; i < lengths; i++)
		if (used[i])
			f->spread[i] = fmax(0, sort_median(rows + i * w->series.count, used[i]));
	free(rows);
}

/* The largest dispersion of all lengths, so that noise which lasts for hours counts. A series has
 * the typical dispersion at a length, unless its own is clearly larger. */
static void set_dispersion(const struct finder *f, struct watch_series *s)
{
	s->dispersion = 1;
	s->degrees = CLASS_DEGREES;
	for (size_t i = 0; i < lengths_of(f->w); i++) {
		size_t length = (size_t)1 << i;
		double mean = block_mean(f->w, s, length), degrees = CLASS_DEGREES, pairs;
		double own = block_dispersion(f, length, &pairs);
		double both = 1 + f->spread[i] * mean;

		if (pairs < PAIRS_LEAST || mean < BLOCK_SAMPLES)
			continue;
		if (own > both * chi_square_quantile(CLEARLY, pairs) / pairs) {
			degrees = pairs + OWN_DEGREES;
			both = (own * pairs + both * OWN_DEGREES) / degrees;
		}
		if (both > s->dispersion) {
			s->dispersion = both;
			s->degrees = degrees;
		}
	}
}

/* The distance of two levels: of [first, point) and [point, last). */
static double levels_score(const struct finder *f, const struct watch_series *s, size_t first,
                           size_t point, size_t last)
{
	double a = f->counts[point] - f->counts[first], b = f->counts[last] - f->counts[point];
	double a_time = f->times[point] - f->times[first];
	double b_time = f->times[last] - f->times[point];
	double part = b_time / (a_time + b_time);

	if (!(a_time > 0) || !(b_time > 0) || a + b < 1)
		return 0;
	return (b - (a + b) * part) / sqrt((a + b) * part * (1 - part) * s->dispersion);
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
	double time = f->times[last] - f->times[first];
	size_t best = 0;

	*score = 0;
	for (size_t i = first + POINTS_LEAST; i + POINTS_LEAST <= last; i++) {
		double before = (f->times[i] - f->times[first]) / time, one;

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

/* Divides [first, last), and lists the points in the order of time. */
static void divide(struct finder *f, uint32_t id, size_t first, size_t last, unsigned depth)
{
	struct watch *w = f->w;
	struct watch_series *s = &w->series.items[id];
	double score, p;
	size_t point = best_split(f, s, first, last, &score);

	p = point ? watch_split_chance(normal_of_student(score, s->degrees)) : 1;
	if (!point || p > f->most || depth > 20)
		return;
	divide(f, id, first, point, depth + 1);
	vec_push(&w->changes,
	         (struct watch_change){.series = id, .point = point, .p = p, .partner = ID_NONE});
	divide(f, id, point, last, depth + 1);
}

static double value_of(const struct watch *w, const struct watch_series *s, size_t from, size_t to)
{
	double cpu_ns = 0, wall_s = 0;

	for (size_t i = from; i < to; i++) {
		cpu_ns += s->cpu_ns[i];
		wall_s += w->wall_s[i];
	}
	return wall_s > 0 ? cpu_ns / wall_s : 0;
}

/* The levels before and after a change, up to the changes beside it. */
static void set_levels(const struct finder *f, struct watch_change *c)
{
	const struct watch *w = f->w;
	const struct watch_series *s = &w->series.items[c->series];
	double a = f->counts[c->point] - f->counts[c->first];
	double b = f->counts[c->last] - f->counts[c->point];
	double a_time = f->times[c->point] - f->times[c->first];
	double b_time = f->times[c->last] - f->times[c->point];
	double error = sqrt(s->dispersion * (1 / (a + 0.5) + 1 / (b + 0.5)));
	double wide = student_quantile(0.995, s->degrees);

	c->before = value_of(w, s, c->first, c->point);
	c->after = value_of(w, s, c->point, c->last);
	c->ratio = b / b_time / (a / a_time);
	c->low = (b + 0.5) / b_time / ((a + 0.5) / a_time) * exp(-wide * error);
	c->high = (b + 0.5) / b_time / ((a + 0.5) / a_time) * exp(wide * error);
	if (!(a > 0))
		c->high = INFINITY;
	c->verdict = c->ratio > 1 ? WATCH_REGRESSION : WATCH_IMPROVEMENT;
}

/* Two changes in a row after which the first level is back are one change that went away. */
static void join_gone(struct finder *f, size_t from)
{
	struct watch *w = f->w;

	for (size_t i = from; i + 1 < w->changes.count; i++) {
		struct watch_change *c = &w->changes.items[i], *next = c + 1;
		const struct watch_series *s = &w->series.items[c->series];
		double a = (f->counts[c->point] - f->counts[c->first]) /
		           (f->times[c->point] - f->times[c->first]);
		double b = (f->counts[c->last] - f->counts[c->point]) /
		           (f->times[c->last] - f->times[c->point]);
		double d = (f->counts[next->last] - f->counts[next->point]) /
		           (f->times[next->last] - f->times[next->point]);
		double both = (f->times[c->point] - f->times[c->first]) * a +
		              (f->times[next->last] - f->times[next->point]) * d;
		double error =
		        sqrt(s->dispersion * both) / (f->times[c->point] - f->times[c->first] +
		                                      f->times[next->last] - f->times[next->point]);

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
	struct watch *w = f->w;
	size_t from = w->changes.count, count;

	set_exposure(f, &w->series.items[id]);
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

/* Sets p and q of the series, and the p that a change of a series has at most. */
static void test_series(struct finder *f)
{
	struct watch *w = f->w;
	double *p = xcalloc(w->series.count + 1, sizeof(*p)), score;

	for (size_t i = 0; i < w->series.count; i++) {
		struct watch_series *s = &w->series.items[i];

		p[i] = NAN;
		if (s->pooled)
			continue;
		w->tested++;
		set_exposure(f, s);
		set_dispersion(f, s);
		best_split(f, s, 0, w->points, &score);
		s->p = p[i] = watch_split_chance(normal_of_student(score, s->degrees));
	}
	false_discovery_rates(p, w->series.count, p);
	f->most = w->tested ? w->how.rate / (double)w->tested : 0;
	for (size_t i = 0; i < w->series.count; i++) {
		w->series.items[i].q = p[i];
		if (p[i] <= w->how.rate && w->series.items[i].p > f->most)
			f->most = w->series.items[i].p;
	}
	f->most = f->most < w->how.confidence ? f->most : w->how.confidence;
	free(p);
}

/* Removes small changes. */
static void select_changes(struct watch *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->changes.count; i++) {
		struct watch_change c = w->changes.items[i];

		c.q = w->series.items[c.series].q;
		if (fabs(c.ratio - 1) >= w->how.least)
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

/* Series with few samples become one. */
static void pool(struct watch *w)
{
	size_t count = w->series.count;
	uint32_t others = watch_series(w, "[others]", "", "");

	for (size_t i = 0; i < count; i++) {
		struct watch_series *s = &w->series.items[i], *o = &w->series.items[others];

		if (i == others || s->all_samples >= WATCH_FLOOR)
			continue;
		s->pooled = true;
		w->pooled++;
		for (size_t k = 0; k < w->points; k++) {
			o->samples[k] += s->samples[k];
			o->cpu_ns[k] += s->cpu_ns[k];
		}
		o->all_samples += s->all_samples;
		o->all_cpu_ns += s->all_cpu_ns;
		s->all_samples = 0; /* once in the load */
	}
	w->series.items[others].pooled = w->series.items[others].all_samples < WATCH_FLOOR;
}

/* Searched by halves: the score whose chance is that of the first listed function. */
static void set_smallest(struct watch *w)
{
	double least = w->how.rate / (double)(w->tested ? w->tested : 1), low = 1.5, high = 30;
	double *all = xcalloc(w->series.count + 1, sizeof(*all)), spread;
	size_t count = 0;

	vec_each (s, &w->series)
		if (!s->pooled)
			all[count++] = s->dispersion;
	spread = sort_median(all, count);
	free(all);
	least = least < w->how.confidence ? least : w->how.confidence;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		*(watch_split_chance(middle) > least ? &low : &high) = middle;
	}
	if (count && w->samples > 0)
		w->smallest = exp((high + normal_quantile(0.8)) *
		                  sqrt(spread * 4 / (0.01 * w->samples))) -
		              1;
}

void watch_find(struct watch *w, const struct watch_options *how)
{
	struct finder f = {.w = w};

	w->how = how ? *how : (struct watch_options){0};
	w->how.confidence = w->how.confidence > 0 ? w->how.confidence : 0.001;
	w->how.rate = w->how.rate > 0 ? w->how.rate : 0.05;
	w->how.least = w->how.least > 0 ? w->how.least : 0.1;
	w->seasonal = (double)w->points * (double)w->step_ns >= WATCH_DAYS * 86400e9 &&
	              w->step_ns <= 3600000000000u;
	pool(w);
	set_load(w);
	f.exposure = xcalloc(w->points + 1, sizeof(*f.exposure));
	f.counts = xcalloc(w->points + 1, sizeof(*f.counts));
	f.times = xcalloc(w->points + 1, sizeof(*f.times));
	set_scatter(&f);
	test_series(&f);
	for (uint32_t i = 0; i < w->series.count; i++)
		if (w->series.items[i].q <= w->how.rate)
			find_series(&f, i);
	select_changes(w);
	if (w->changes.count)
		qsort(w->changes.items, w->changes.count, sizeof(*w->changes.items), by_time);
	find_moved(w);
	set_smallest(w);
	free(f.exposure);
	free(f.counts);
	free(f.times);
}
