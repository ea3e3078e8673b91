/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ticks: when the samples of the clock came, in order, per CPU.
 *
 * Give the sink to a reader; the main event's samples are kept with their
 * lateness against the timer's grid. Memory is bounded: beyond TICKS_MAX
 * samples no more are kept, and `cut` says so. Several recordings may follow
 * one another: their times do not mix, for a recording starts new lines.
 * ticks_init / ticks_done. Times in ns. Uses: base, event.
 */
#ifndef ASSAY_TRACE_TICKS_H
#define ASSAY_TRACE_TICKS_H

#include "event/grid.h"
#include "event/recording.h"

#define TICKS_MAX (1u << 25)

struct ticks_cpu {
	uint32_t recording, cpu;
	VEC(uint64_t) times; /* ns */
	VEC(float) late;     /* ns, per time; without a grid empty */
	uint64_t missing;    /* ticks due between two samples */
	uint64_t backwards;  /* samples earlier than the one before, left out */
	struct grid grid;
};

struct ticks {
	char *event;        /* NULL: no samples */
	uint64_t period_ns; /* 0: the event has no grid */
	bool machine_wide;  /* false: timers run with their threads, and stop with them */
	bool cut;
	uint32_t recordings;
	uint64_t count;
	const struct recording *recording; /* being read */
	uint16_t attr;                     /* of it: the main one */
	VEC(struct ticks_cpu) cpus;
};

void ticks_init(struct ticks *t);
void ticks_done(struct ticks *t);
struct event_sink ticks_sink(struct ticks *t);

#endif
