/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/tick_grid.h"

#include <math.h>

/* Number of samples whose minimum lateness is determined before the origin may rise. */
#define WINDOW 32
/* Limit of the drift between two clocks (twice the maximum of NTP). */
#define DRIFT_MAX 100e-6
/* After this many windows without a timely sample the timer was restarted. */
#define LATE_WINDOWS_MAX 4
/* In ns: a sample that is earlier than the earliest sample so far by up to this much is still in
 * time. */
#define EARLY_NS 2000.0

void tick_grid_init(struct tick_grid *g, uint64_t period_ns)
{
	*g = (struct tick_grid){.period_ns = period_ns};
}

static void start(struct tick_grid *g, uint64_t time_ns)
{
	g->started = true;
	g->origin_ns = (double)time_ns;
	g->last_ns = time_ns;
	g->window_late_ns = INFINITY;
	g->window_start_ns = time_ns;
}

/*
 * The origin moves down at once when a sample is early, since samples cannot be early. It moves up
 * slowly, at most by the drift: the rest of the difference is lateness.
 */
static void follow(struct tick_grid *g, uint64_t time_ns, double late)
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
 * A sample between the last tick and the next one has two possible reasons. Either the grid is
 * really earlier (it was fitted to late samples), or the last sample was late by almost a whole
 * period and was assigned to the following tick. The second is possible only if ticks were missing
 * before the last sample, and if this sample comes shortly after it.
 */
static bool last_was_misread(const struct tick_grid *g, double late_on_last)
{
	return g->last_doubtful && late_on_last < (double)g->period_ns / 8;
}

struct grid_tick tick_grid_sample(struct tick_grid *g, uint64_t time_ns)
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

uint64_t tick_grid_due(const struct tick_grid *g, uint64_t from_ns, uint64_t to_ns)
{
	double period = (double)g->period_ns, due;

	if (!g->started || !g->period_ns || to_ns <= from_ns)
		return 0;
	due = ceil(((double)to_ns - g->origin_ns) / period) -
	      ceil(((double)from_ns - g->origin_ns) / period);
	return due > 0 ? (uint64_t)due : 0;
}
