/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ticks: the times of the clock's samples, in order, for each CPU.
 *
 * The sink receives the events of a reader. It stores the samples of the main event, with their
 * lateness against the timer's grid. Memory is limited: after TICKS_MAX samples no more are stored,
 * and `cut` is set. Several recordings may be read one after the other; each recording has its own
 * lines, so their times are not mixed. ticks_init() / ticks_done(). -EINVAL: a recording has
 * another period than the previous one. Times are in ns. Uses: base, event.
 */
#ifndef ASSAY_PROFILE_LEDGER_TICKS_H
#define ASSAY_PROFILE_LEDGER_TICKS_H

#include "event/tick_grid.h"
#include "event/recording.h"

#define TICKS_MAX (1u << 25)

struct ticks_cpu {
	uint32_t recording, cpu;
	VEC(uint64_t) times; /* ns */
	VEC(float) late;     /* ns, for each time; empty without a grid */
	uint64_t missing;    /* ticks due between two samples */
	uint64_t backwards;  /* samples earlier than the previous one; not stored */
	struct tick_grid grid;
};

struct ticks {
	char *event;        /* NULL: no samples */
	uint64_t period_ns; /* 0: the event has no grid */
	bool machine_wide;  /* false: timers run only while their threads run */
	bool cut;
	uint32_t recordings;
	uint64_t count;
	const struct recording *recording; /* the recording being read */
	uint16_t attr;                     /* its main attr */
	VEC(struct ticks_cpu) cpus;
};

void ticks_init(struct ticks *t);
void ticks_done(struct ticks *t);
struct event_sink ticks_sink(struct ticks *t);

#endif
