/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/watch/watch_exposure.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A series with a larger share of the time is not part of the load. */
#define LOAD_SHARE 0.05
/* If the other series have less than this share, all series are part of the load. */
#define LOAD_LEAST 0.2
/* The usual level of an hour is mixed with this many samples of the mean level. */
#define HOUR_SAMPLES 30

static double add_load(struct watch *w, double below, double least)
{
	double sum = 0;

	vec_each (s, &w->series)
		sum += s->samples && !s->outside && s->all_samples < below ? s->all_samples : 0;
	if (sum < least)
		return 0;
	vec_each (s, &w->series)
		if (s->samples && !s->outside && s->all_samples < below)
			for (size_t i = 0; i < w->points; i++)
				w->load[i] += s->samples[i];
	return sum;
}

void watch_load_set(struct watch *w)
{
	double all = 0, wall_s = 0, sum = 0;

	vec_each (s, &w->series)
		all += s->samples ? s->all_samples : 0;
	memset(w->load, 0, w->points * sizeof(*w->load));
	w->load_samples = add_load(w, LOAD_SHARE * all, LOAD_LEAST * all);
	if (!(w->load_samples > 0))
		w->load_samples = add_load(w, INFINITY, 0);
	for (size_t i = 0; i < w->points; i++) {
		wall_s += w->wall_s[i];
		sum += w->wall_s[i] > 0 ? w->load[i] : 0;
	}
	for (size_t i = 0; i < w->points; i++)
		w->load[i] =
		        w->wall_s[i] > 0 && sum > 0 ? w->load[i] / w->wall_s[i] * wall_s / sum : 0;
}

static size_t hour_of(const struct watch_exposure *e, size_t point)
{
	uint64_t day_ns = UINT64_C(86400000000000);

	return (size_t)(watch_time_ns(e->w, point) % day_ns / (day_ns / WATCH_HOURS));
}

/* Multiplies the exposure by the usual level of each hour. */
static void set_season(struct watch_exposure *e, const struct watch_series *s)
{
	double counts[WATCH_HOURS] = {0}, times[WATCH_HOURS] = {0}, count = 0, time = 0;

	for (size_t i = 0; i < e->w->points; i++) {
		double samples = e->exposure[i] > 0 ? s->samples[i] : 0;

		counts[hour_of(e, i)] += samples;
		times[hour_of(e, i)] += e->exposure[i];
		count += samples;
		time += e->exposure[i];
	}
	for (size_t i = 0; i < e->w->points; i++) {
		size_t hour = hour_of(e, i);
		double usual = times[hour] * count / time;

		e->exposure[i] *= (counts[hour] + HOUR_SAMPLES) / (usual + HOUR_SAMPLES);
	}
}

void watch_exposure_set(struct watch_exposure *e, const struct watch_series *s)
{
	const struct watch *w = e->w;
	double count = 0, time = 0;

	for (size_t i = 0; i < w->points; i++)
		e->exposure[i] = w->work          ? (w->wall_s[i] > 0 ? w->work[i] : 0)
		                 : w->how.by_wall ? w->wall_s[i]
		                                  : w->wall_s[i] * w->load[i];
	if (w->seasonal)
		set_season(e, s);
	for (size_t i = 0; i < w->points; i++) {
		e->counts[i] = count;
		e->times[i] = time;
		count += e->exposure[i] > 0 ? s->samples[i] : 0;
		time += e->exposure[i];
	}
	e->counts[w->points] = count;
	e->times[w->points] = time;
}

void watch_exposure_init(struct watch_exposure *e, struct watch *w)
{
	*e = (struct watch_exposure){
	        .w = w,
	        .exposure = xcalloc(w->points + 1, sizeof(*e->exposure)),
	        .counts = xcalloc(w->points + 1, sizeof(*e->counts)),
	        .times = xcalloc(w->points + 1, sizeof(*e->times)),
	};
}

void watch_exposure_done(struct watch_exposure *e)
{
	free(e->exposure);
	free(e->counts);
	free(e->times);
}
