/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tick_grid: computes the times at which a CPU's sampling timer was due.
 *
 * A software clock ticks at origin + k * period. Each sample comes a little late (microseconds), or
 * much later if interrupts were off. Ticks may be missing, and the timestamp clock may drift
 * against the timer's. The grid follows the earliest arrivals, and gives each sample its tick
 * number, its lateness, and the number of ticks missing before it.
 *
 * The kernel's timer never fires twice for one tick, and skips the ticks that were due while it was
 * delayed. A sample is assigned to the last tick due before it; skipped ticks count as missing
 * before it. The times alone do not show whether the sample was delayed or the ticks were lost.
 * Call tick_grid_init() first; no memory is allocated. Uses: base.
 */
#ifndef ASSAY_EVENT_TICK_GRID_H
#define ASSAY_EVENT_TICK_GRID_H

#include <stdbool.h>
#include <stdint.h>

struct tick_grid {
	uint64_t period_ns;
	double origin_ns; /* fitted time of tick 0, moves with the drift */
	uint64_t tick;    /* number of the last sample's tick */
	uint64_t last_ns;
	bool started;
	/* To follow a drift upwards: the minimum lateness in the window so far. */
	double window_late_ns;
	uint64_t window_start_ns;
	uint32_t window_samples;
	uint32_t late_windows; /* consecutive windows without a sample near the grid */
	bool last_doubtful;    /* the last sample came early, after missing ticks */
};

struct grid_tick {
	uint64_t tick;    /* number of the tick; the first sample has 0 */
	uint64_t missing; /* ticks due between the previous sample and this sample */
	double late_ns;   /* against the grid fitted so far, 0 or more */
};

void tick_grid_init(struct tick_grid *g, uint64_t period_ns);
/* Samples must come in time order. A sample earlier than its predecessor gets the same tick. */
struct grid_tick tick_grid_sample(struct tick_grid *g, uint64_t time_ns);
/* Number of ticks due in [from, to), by the grid as fitted so far; 0 before the first sample. */
uint64_t tick_grid_due(const struct tick_grid *g, uint64_t from_ns, uint64_t to_ns);

#endif
