/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the changes. A series is divided at the point where its levels differ most, and each part
 * again, as long as the difference is significant. With windows the points of one window are
 * compared, and the next window begins in the middle of it. All counts are tested against their
 * exposure (watch_exposure.h).
 *
 * The unit of a series is not known beforehand: a busier program is no change of its functions, and
 * a function of another program does not follow it. A unit is excluded if the series varies more,
 * divided by it, than by another one. A change is listed only if it is one in each of the remaining
 * units. If the load is constant, all remain, and all levels are nearly the same.
 */
#include "view/watch/watch_find.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"
#include "view/watch/watch_dispersion.h"
#include "view/watch/watch_loads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each part has at least this part of the points around it. */
#define TRIM 0.05
/* The deviance is computed only for scores above this. */
#define SKEWED 2
/* Rounds in which changed functions are left out of a load. */
#define ROUNDS 8
/* A unit is excluded by this logarithm of a ratio of likelihoods. */
#define UNLIKELY 4
/* The noise of a load may multiply the variance of a series by this. */
#define NOISE 4

struct finder {
	struct watch_exposure units[WATCH_UNITS];
	struct watch_exposure e; /* one of them: of the unit of the series */
	const struct watch_family *family;
};

struct watch_search {
	struct watch *w;
	struct finder finder;
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
static double levels_score(const struct watch_exposure *e, double dispersion, size_t first,
                           size_t point, size_t last)
{
	double a = e->counts[point] - e->counts[first];
	double b = e->counts[last] - e->counts[point];
	double a_time = e->times[point] - e->times[first];
	double b_time = e->times[last] - e->times[point];
	double part = b_time / (a_time + b_time), expected = (a + b) * part, score;

	if (!(a_time > 0) || !(b_time > 0) || a + b < 1)
		return 0;
	score = (b - expected) / sqrt(expected * (1 - part) * dispersion);
	if (fabs(score) < SKEWED)
		return score;
	score = 2 * (deviance(b, expected) + deviance(a, (a + b) * (1 - part))) / dispersion;
	return copysign(sqrt(fmax(0, score)), b - expected);
}

/* The dispersion of the series by its unit. */
static const struct watch_scatter *scatter_of(const struct watch_series *s)
{
	return &s->scatter[s->unit];
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
		one = levels_score(&f->e, scatter_of(s)->dispersion, first, i, last);
		if (fabs(one) > fabs(*score)) {
			*score = one;
			best = i;
		}
	}
	return best;
}

/* The largest chance of such levels in the other units of the series. The point is not searched
 * for in these. */
static double other_chance(const struct finder *f, const struct watch_series *s, size_t first,
                           size_t point, size_t last, double score)
{
	double most = 0;

	for (unsigned unit = 0; unit < WATCH_UNITS; unit++) {
		const struct watch_scatter *scatter = &s->scatter[unit];
		double one;

		if (unit == s->unit || !(s->units & 1u << unit))
			continue;
		one = levels_score(&f->units[unit], scatter->dispersion, first, point, last);
		one = one * score > 0 ? 2 * student_above(fabs(one), scatter->degrees) : 1;
		most = fmax(most, one);
	}
	return most;
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
	double least = 1;

	*point = 0;
	for (size_t i = 0; i < windows; i++) {
		size_t from = i + 1 < windows ? first + i * (size / 2) : last - size, at;
		double score, p;

		at = best_split(f, s, from, from + size, &score);
		if (!at)
			continue;
		p = watch_split_chance(normal_of_student(score, scatter_of(s)->degrees), size);
		p = fmax(p * (double)windows, other_chance(f, s, from, at, from + size, score));
		if (p < least) {
			*point = at;
			least = p;
		}
	}
	return least;
}

/* A large function has a larger part of the error rate (Genovese, Roeder and Wasserman): its
 * changes matter more, and can be found. The mean of the weights is 1. */
static double weight_of(const struct watch_series *s, const struct watch_family *family)
{
	return sqrt(s->all_samples) / family->root;
}

/* The maximum p of a change of the series. */
static double most_of(const struct finder *f, const struct watch_series *s)
{
	return fmin(f->family->confidence, f->family->most * weight_of(s, f->family));
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

/* The levels before and after a change, up to the changes beside it. */
static void set_levels(const struct finder *f, struct watch_change *c)
{
	const struct watch_series *s = &f->e.w->series.items[c->series];
	const struct watch_scatter *scatter = scatter_of(s);
	double a = f->e.counts[c->point] - f->e.counts[c->first];
	double b = f->e.counts[c->last] - f->e.counts[c->point];
	double a_time = f->e.times[c->point] - f->e.times[c->first];
	double b_time = f->e.times[c->last] - f->e.times[c->point];
	double error = sqrt(scatter->dispersion * (1 / (a + 0.5) + 1 / (b + 0.5)));
	double wide = student_quantile(0.995, scatter->degrees), none;

	c->before = a / a_time * f->e.scale;
	c->after = b / b_time * f->e.scale;
	c->ratio = c->after / c->before;
	c->low = (b + 0.5) / b_time / ((a + 0.5) / a_time) * exp(-wide * error);
	c->high = (b + 0.5) / b_time / ((a + 0.5) / a_time) * exp(wide * error);
	/* If one side has no samples, the interval is computed from the deviance. */
	none = exp(-wide * wide * scatter->dispersion / (2 * (a + b)));
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
		double error = sqrt(scatter_of(s)->dispersion * both) /
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

static void set_units(struct finder *f, const struct watch_series *s)
{
	for (unsigned unit = 0; unit < WATCH_UNITS; unit++)
		if (s->units & 1u << unit)
			watch_exposure_set(&f->units[unit], s, unit);
	f->e = f->units[s->unit];
}

static void find_series(struct finder *f, uint32_t id)
{
	struct watch *w = f->e.w;
	size_t from = w->changes.count, count;
	VEC(size_t) points = {0};

	set_units(f, &w->series.items[id]);
	divide(f, id, 0, w->points, 0);
	count = w->changes.count;
	for (size_t i = from; i < count; i++)
		vec_push(&points, w->changes.items[i].point);
	watch_exposure_refit(&f->e, &w->series.items[id], points.items, points.count);
	vec_done(&points);
	for (size_t i = from; i < count; i++) {
		struct watch_change *c = &w->changes.items[i];

		c->first = i > from ? c[-1].point : 0;
		c->last = i + 1 < count ? c[1].point : w->points;
		set_levels(f, c);
	}
	join_gone(f, from);
}

static void test_series(struct finder *f, struct watch *w)
{
	w->tested = 0;
	for (size_t i = 0; i < w->series.count; i++) {
		struct watch_series *s = &w->series.items[i];
		size_t point;

		if (s->pooled)
			continue;
		w->tested++;
		set_units(f, s);
		s->p = search(f, s, 0, w->points, &point);
	}
}

/* ---- the tests of several searches ---------------------------------------- */

void watch_family_add(struct watch_family *f, const struct watch *w)
{
	vec_each (s, &w->series)
		if (!s->pooled)
			vec_push(&f->tests, (struct watch_family_test){
			                            .p = s->p, .root = sqrt(s->all_samples)});
}

static int by_weighted(const void *a, const void *b)
{
	const struct watch_family_test *x = a, *y = b;

	return x->weighted < y->weighted ? -1 : x->weighted > y->weighted;
}

void watch_family_close(struct watch_family *f, const struct watch *w)
{
	size_t count = f->tests.count;
	double *p = xcalloc(count + 1, sizeof(*p)), sum = 0;

	f->rate = w->how.rate;
	f->confidence = w->how.confidence;
	vec_each (t, &f->tests)
		sum += t->root;
	f->root = count ? sum / (double)count : 1;
	for (size_t i = 0; i < count; i++) {
		struct watch_family_test *t = &f->tests.items[i];

		p[i] = t->weighted = fmin(1, t->p / (t->root / f->root));
	}
	false_discovery_rates(p, count, p);
	f->most = count ? f->rate / (double)count : 0;
	for (size_t i = 0; i < count; i++) {
		struct watch_family_test *t = &f->tests.items[i];

		t->q = p[i];
		if (t->q <= f->rate)
			f->most = fmax(f->most, t->weighted);
	}
	free(p);
	f->sorted = xcalloc(count + 1, sizeof(*f->sorted));
	if (count)
		memcpy(f->sorted, f->tests.items, count * sizeof(*f->sorted));
	qsort(f->sorted, count, sizeof(*f->sorted), by_weighted);
}

bool watch_family_has(const struct watch_family *f, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (f->tests.items[i].q <= f->rate)
			return true;
	return false;
}

void watch_family_done(struct watch_family *f)
{
	vec_done(&f->tests);
	free(f->sorted);
}

/* The q of the nearest test of the family that is no surer. */
static double family_rate(const struct watch_family *f, double weighted)
{
	size_t low = 0, high = f->tests.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (f->sorted[middle].weighted < weighted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->tests.count ? f->sorted[low].q : 1;
}

/* By bisection: the score with the probability at which the first function is listed. */
double watch_family_smallest(const struct watch_family *f, const struct watch_power *power)
{
	double weight = sqrt(0.01 * power->samples) / f->root, low = 1.5, high = 30;
	double least = f->rate / (double)(f->tests.count ? f->tests.count : 1) * weight;
	double samples = 0.01 * power->samples * (double)power->size /
	                 (double)(power->points ? power->points : 1);

	least = least < f->confidence ? least : f->confidence;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		double p = (double)power->windows * watch_split_chance(middle, power->size);

		*(p > least ? &low : &high) = middle;
	}
	if (!(power->spread >= 0) || !(samples > 0))
		return NAN;
	return exp((high + normal_quantile(0.8)) * sqrt(power->spread * 4 / samples)) - 1;
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

/* The samples are those of all points, divided by their number. */
static void set_power(struct watch *w)
{
	double *all = xcalloc(w->series.count + 1, sizeof(*all));
	size_t count = 0;

	vec_each (s, &w->series)
		if (!s->pooled)
			all[count++] = scatter_of(s)->dispersion;
	w->power = (struct watch_power){.samples = w->samples,
	                                .spread = count ? sort_median(all, count) : NAN,
	                                .windows = windows_of(w, w->points),
	                                .size = window_points(w, w->points),
	                                .points = w->points};
	free(all);
}

/* The surest change of the members that are part of a load, by this load. false: none is sure. */
static bool surest_change(struct finder *f, enum watch_unit unit, uint32_t load, size_t *point)
{
	struct watch *w = f->e.w;
	const struct watch_load *l = &w->loads.items[load];
	double least = w->how.rate / (double)(l->members.count + 1);
	bool found = false;

	vec_each (id, &l->members) {
		struct watch_series *s = &w->series.items[*id];
		size_t at;
		double p;

		if (s->pooled || s->outside[unit] || !watch_exposure_set(&f->units[unit], s, unit))
			continue;
		s->unit = (uint8_t)unit;
		s->units = (uint8_t)(1u << unit);
		f->e = f->units[unit];
		p = search(f, s, 0, w->points, &at);
		if (at && p <= least) {
			least = p;
			*point = at;
			found = true;
		}
	}
	return found;
}

/* A changed function that is a large part of a load would change all other functions. */
static void set_load(struct finder *f, enum watch_unit unit, uint32_t load)
{
	struct watch *w = f->e.w;
	const struct watch_load *l = &w->loads.items[load];
	size_t point;

	for (int round = 0;; round++) {
		watch_loads_set(w, unit, load);
		watch_dispersions_set(&f->units[unit], unit, l->members.items, l->members.count);
		if (round == ROUNDS || !surest_change(f, unit, load, &point) ||
		    !watch_loads_leave_out(w, unit, load, point))
			break;
	}
}

/* How much less likely the scatter of the series is by unit b than by unit a, of the lengths of
 * blocks at which its variance is more than `times` as large. */
static double less_likely(const struct watch_series *s, unsigned a, unsigned b, double times)
{
	const struct watch_scatter *x = &s->scatter[a], *y = &s->scatter[b];
	double most = 0;

	for (int i = 0; i < WATCH_LENGTHS; i++) {
		double blocks = fmin(x->blocks[i], y->blocks[i]);

		if (blocks > 0 && x->own[i] > 0 && y->own[i] > times * x->own[i])
			most = fmax(most, blocks / 2 * log(y->own[i] / x->own[i]));
	}
	return most;
}

/* A load has noise of its own: the smaller a load, the more. If the series varies less, divided by
 * the smaller one, it follows it. If it varies more, this may be the noise. */
static bool excludes(const struct watch_series *s, unsigned a, unsigned b)
{
	double times = a < b ? 1 : NOISE;

	return less_likely(s, a, b, times) > UNLIKELY + less_likely(s, b, a, 1);
}

static void choose_units(struct finder *f, struct watch_series *s)
{
	unsigned known = 0, excluded = 0;

	for (unsigned unit = 0; unit <= WATCH_PER_SECOND; unit++)
		if (watch_exposure_set(&f->units[unit], s, unit))
			known |= 1u << unit;
	for (unsigned a = 0; a <= WATCH_PER_SECOND; a++)
		for (unsigned b = 0; b <= WATCH_PER_SECOND; b++)
			if (a != b && known & 1u << a && known & 1u << b && excludes(s, a, b))
				excluded |= 1u << b;
	s->units = (uint8_t)(known & ~excluded ? known & ~excluded : 1u << WATCH_PER_SECOND);
	for (s->unit = 0; !(s->units & 1u << s->unit);)
		s->unit++;
}

/* The unit of each series, and its dispersion. */
static void set_all_units(struct finder *f)
{
	struct watch *w = f->e.w;
	enum watch_unit one = w->work ? WATCH_PER_WORK : WATCH_PER_SECOND;

	if (watch_by_load(w)) {
		watch_loads_init(w);
		for (uint32_t load = 0; load < w->loads.count; load++)
			set_load(f, load ? WATCH_PER_PROGRAM : WATCH_PER_LOAD, load);
		watch_dispersions_set(&f->units[WATCH_PER_PROGRAM], WATCH_PER_PROGRAM, NULL, 0);
		watch_dispersions_set(&f->units[WATCH_PER_LOAD], WATCH_PER_LOAD, NULL, 0);
	}
	watch_dispersions_set(&f->units[one], one, NULL, 0);
	vec_each (s, &w->series) {
		s->unit = (uint8_t)one;
		s->units = (uint8_t)(1u << one);
		if (watch_by_load(w) && !s->pooled)
			choose_units(f, s);
	}
}

struct watch_search *watch_test(struct watch *w, const struct watch_options *how)
{
	struct watch_search *search = xcalloc(1, sizeof(*search));
	struct finder *f = &search->finder;

	search->w = w;
	w->how = how ? *how : (struct watch_options){0};
	w->how.confidence = w->how.confidence > 0 ? w->how.confidence : 0.001;
	w->how.rate = w->how.rate > 0 ? w->how.rate : 0.1;
	w->how.least = w->how.least > 0 ? w->how.least : 0.1;
	w->seasonal = (double)w->points * (double)w->step_ns >= WATCH_DAYS * 86400e9 &&
	              w->step_ns <= 3600000000000u;
	watch_pool(w);
	for (unsigned unit = 0; unit < WATCH_UNITS; unit++)
		watch_exposure_init(&f->units[unit], w);
	f->e = f->units[0];
	set_all_units(f);
	test_series(f, w);
	set_power(w);
	return search;
}

static void list_changes(struct finder *f, struct watch *w)
{
	for (uint32_t i = 0; i < w->series.count; i++) {
		struct watch_series *s = &w->series.items[i];

		if (s->pooled)
			continue;
		s->q = family_rate(f->family, fmin(1, s->p / weight_of(s, f->family)));
		if (s->q <= f->family->rate)
			find_series(f, i);
	}
	select_changes(w);
	if (w->changes.count)
		qsort(w->changes.items, w->changes.count, sizeof(*w->changes.items), by_time);
	find_moved(w);
	vec_each (c, &w->changes) {
		c->time_ns = watch_time_ns(w, c->point);
		c->back_ns = c->verdict == WATCH_WENT_AWAY ? watch_time_ns(w, c->back) : 0;
		c->unit = w->series.items[c->series].unit;
	}
	w->smallest = watch_family_smallest(f->family, &w->power);
}

void watch_list(struct watch_search *search, const struct watch_family *family)
{
	search->finder.family = family;
	if (family)
		list_changes(&search->finder, search->w);
	for (unsigned unit = 0; unit < WATCH_UNITS; unit++)
		watch_exposure_done(&search->finder.units[unit]);
	free(search);
}

void watch_find(struct watch *w, const struct watch_options *how)
{
	struct watch_search *search = watch_test(w, how);
	struct watch_family family = {0};

	watch_family_add(&family, w);
	watch_family_close(&family, w);
	watch_list(search, &family);
	watch_family_done(&family);
}
