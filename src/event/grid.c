/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/grid.h"

#include <math.h>

/* Samples over which the least lateness is taken before the origin may move up. */
#define WINDOW 32
/* Clocks drift against each other by less than this (twice what NTP may do). */
#define DRIFT_MAX 100e-6
/* Windows without one timely sample after which the timer must have been restarted. */
#define LATE_WINDOWS_MAX 4
/* Jitter below the earliest arrival so far that is taken for an arrival in time. */
#define EARLY_NS 2000.0

void grid_init(struct grid *g, uint64_t period_ns)
{
	*g = (struct grid){.period_ns = period_ns};
}

static void start(struct grid *g, uint64_t time_ns)
{
	g->started = true;
	g->origin_ns = (double)time_ns;
	g->last_ns = time_ns;
	g->window_late_ns = INFINITY;
	g->window_start_ns = time_ns;
}

/*
 * The origin falls at once when a sample is early, for none can be; it rises
 * slowly, by what a drift explains, as lateness explains the rest.
 */
static void follow(struct grid *g, uint64_t time_ns, double late)
{
	double drift, period = (double)g->period_ns;

	if (late < g->window_late_ns)
		g->window_late_ns = late;
	if (++g->window_samples < WINDOW)
		return;
	drift = DRIFT_MAX * (double)(time_ns - g->window_start_ns);
	if (g->window_late_ns > drift + fmax(period / 16, EARLY_NS))
		g->late_windows++;
	else
		g->late_windows = 0;
	if (g->late_windows == LATE_WINDOWS_MAX) {
		g->origin_ns += g->window_late_ns;
		g->late_windows = 0;
	} else {
		g->origin_ns += fmin(g->window_late_ns / 2, drift);
	}
	g->window_late_ns = INFINITY;
	g->window_samples = 0;
	g->window_start_ns = time_ns;
}

/*
 * A sample between the last tick and the next: either the grid is really
 * earlier than thought (it was fitted to late samples), or the last sample was
 * late by almost a whole period and was taken for the tick after its own. The
 * second only if ticks were missing before it, and this one is hard by.
 */
static bool last_was_misread(const struct grid *g, double late_on_last)
{
	return g->last_doubtful && late_on_last < (double)g->period_ns / 8;
}

struct grid_tick grid_sample(struct grid *g, uint64_t time_ns)
{
	double period = (double)g->period_ns, since, early, late, k;
	struct grid_tick result = {.tick = g->tick};

	if (!g->period_ns)
		return result;
	if (!g->started) {
		start(g, time_ns);
		return result;
	}
	if (time_ns < g->last_ns)
		return result;
	early = fmin(EARLY_NS + DRIFT_MAX * (double)(time_ns - g->last_ns), period / 4);
	since = (double)time_ns - g->origin_ns - (double)g->tick * period;
	k = floor((since + early) / period);
	if (k < 1 && last_was_misread(g, since)) {
		g->last_ns = time_ns;
		g->last_doubtful = false;
		return result;
	}
	k = fmax(k, 1);
	late = since - k * period;
	g->last_doubtful = k > 1 && late <= 0;
	if (late < 0) {
		g->origin_ns += late;
		late = 0;
	}
	result.missing = (uint64_t)k - 1;
	result.tick = g->tick += (uint64_t)k;
	result.late_ns = late;
	g->last_ns = time_ns;
	follow(g, time_ns, late);
	return result;
}

uint64_t grid_due(const struct grid *g, uint64_t from_ns, uint64_t to_ns)
{
	double period = (double)g->period_ns, due;

	if (!g->started || !g->period_ns || to_ns <= from_ns)
		return 0;
	due = ceil(((double)to_ns - g->origin_ns) / period) -
	      ceil(((double)from_ns - g->origin_ns) / period);
	return due > 0 ? (uint64_t)due : 0;
}
