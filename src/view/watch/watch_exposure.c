/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/watch/watch_exposure.h"

#include "base/memory/xalloc.h"
#include "view/watch/watch_loads.h"

#include <stdlib.h>

/* The usual level of an hour is mixed with this many samples of the mean level. */
#define HOUR_SAMPLES 30
/* Levels of hours and levels between changes depend on each other; a few rounds are enough. */
#define ROUNDS 8

/* Samples per ns of CPU time. */
static double rate_at(const struct watch *w, size_t point)
{
	return w->sampled_ns[point] > 0 ? w->sampled[point] / w->sampled_ns[point] : 0;
}

static double unit_at(const struct watch *w, const struct watch_series *s, enum watch_unit unit,
                      size_t point)
{
	if (!(w->wall_s[point] > 0))
		return 0;
	switch (unit) {
	case WATCH_PER_PROGRAM:
	case WATCH_PER_LOAD:
		return watch_loads_at(w, s, unit, point);
	case WATCH_PER_WORK:
		return w->work[point] * rate_at(w, point);
	default:
		return w->wall_s[point] * rate_at(w, point);
	}
}

static size_t hour_of(const struct watch_exposure *e, size_t point)
{
	uint64_t day_ns = UINT64_C(86400000000000);

	return (size_t)(watch_time_ns(e->w, point) % day_ns / (day_ns / WATCH_HOURS));
}

/* `level`: of the series at each point; NULL: it has one level. */
static void set_season(struct watch_exposure *e, const struct watch_series *s, const double *level)
{
	double counts[WATCH_HOURS] = {0}, times[WATCH_HOURS] = {0}, count = 0, time = 0;

	for (size_t i = 0; i < e->w->points; i++) {
		double samples = e->unit[i] > 0 ? s->samples[i] : 0;
		double expected = e->unit[i] * (level ? level[i] : 1);

		counts[hour_of(e, i)] += samples;
		times[hour_of(e, i)] += expected;
		count += samples;
		time += expected;
	}
	for (size_t i = 0; i < e->w->points; i++) {
		size_t hour = hour_of(e, i);
		double usual = time > 0 ? times[hour] * count / time : 0;

		e->exposure[i] =
		        e->unit[i] * (counts[hour] + HOUR_SAMPLES) / (usual + HOUR_SAMPLES);
	}
}

static void sum_up(struct watch_exposure *e, const struct watch_series *s)
{
	const struct watch *w = e->w;
	double count = 0, time = 0;

	for (size_t i = 0; i < w->points; i++) {
		e->counts[i] = count;
		e->times[i] = time;
		count += e->exposure[i] > 0 ? s->samples[i] : 0;
		time += e->exposure[i];
	}
	e->counts[w->points] = count;
	e->times[w->points] = time;
}

/* Loads are sums of samples: a level is the time per second at their mean. */
static void set_scale(struct watch_exposure *e, enum watch_unit unit)
{
	const struct watch *w = e->w;
	double second = 0;

	e->scale = 1;
	if (unit != WATCH_PER_PROGRAM && unit != WATCH_PER_LOAD)
		return;
	for (size_t i = 0; i < w->points; i++)
		second += w->wall_s[i] * rate_at(w, i);
	e->scale = second > 0 ? e->times[w->points] / second : 1;
}

bool watch_exposure_set(struct watch_exposure *e, const struct watch_series *s,
                        enum watch_unit unit)
{
	const struct watch *w = e->w;

	for (size_t i = 0; i < w->points; i++)
		e->exposure[i] = e->unit[i] = unit_at(w, s, unit, i);
	if (w->seasonal)
		set_season(e, s, NULL);
	sum_up(e, s);
	set_scale(e, unit);
	return e->times[w->points] > 0;
}

/* The level of each point from the samples between changes. */
static void set_levels(const struct watch_exposure *e, const size_t *points, size_t count,
                       double *level)
{
	for (size_t part = 0, from = 0; part <= count; part++) {
		size_t to = part < count ? points[part] : e->w->points;
		double time = e->times[to] - e->times[from];

		for (size_t i = from; i < to; i++)
			level[i] = time > 0 ? (e->counts[to] - e->counts[from]) / time : 0;
		from = to;
	}
}

void watch_exposure_refit(struct watch_exposure *e, const struct watch_series *s,
                          const size_t *points, size_t count)
{
	double *level = xcalloc(e->w->points + 1, sizeof(*level));

	for (int round = 0; e->w->seasonal && count && round < ROUNDS; round++) {
		set_levels(e, points, count, level);
		set_season(e, s, level);
		sum_up(e, s);
	}
	set_scale(e, (enum watch_unit)s->unit);
	free(level);
}

void watch_exposure_init(struct watch_exposure *e, struct watch *w)
{
	size_t size = w->points + 1;

	*e = (struct watch_exposure){
	        .w = w,
	        .unit = xcalloc(size, sizeof(*e->unit)),
	        .exposure = xcalloc(size, sizeof(*e->exposure)),
	        .counts = xcalloc(size, sizeof(*e->counts)),
	        .times = xcalloc(size, sizeof(*e->times)),
	};
}

void watch_exposure_done(struct watch_exposure *e)
{
	free(e->unit);
	free(e->exposure);
	free(e->counts);
	free(e->times);
}
