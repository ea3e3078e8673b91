/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ledger_cpu: the account of one CPU while its events are read.
 *
 * Switch records show when the CPU was busy and when idle. Samples of the clock are ticks seen, and
 * the timer's grid shows which ticks were due between two samples. Each missing tick is charged to
 * the state in which the CPU was when the tick was due. Times in ns on the recording's clock;
 * events in time order. ledger_cpu_init / ledger_cpu_done. Uses: base, event.
 */
#ifndef ASSAY_PROFILE_LEDGER_LEDGER_CPU_H
#define ASSAY_PROFILE_LEDGER_LEDGER_CPU_H

#include "base/memory/vec.h"
#include "event/tick_grid.h"
#include "profile/ledger/ledger.h"

enum cpu_state { CPU_STATE_UNKNOWN, CPU_STATE_IDLE, CPU_STATE_BUSY };

struct cpu_span {
	uint64_t from_ns; /* until the next span's from_ns */
	enum cpu_state state;
};

struct ledger_cpu_builder {
	struct ledger_cpu sums;
	struct tick_grid grid;
	uint64_t start_ns, end_ns; /* of sampling; end 0: unknown */
	uint64_t since_ns;         /* when the present state began */
	uint64_t due_ns;           /* of the last seen tick */
	uint64_t folded;           /* missing ticks since then that were already counted */
	uint64_t rest_seen[2], rest_missing[2]; /* ns, for busy and idle: less than one tick */
	VEC(struct cpu_span) spans;             /* states since the last tick */
	bool told, exclude_idle,
	        out; /* told: the first state is known; out: the last record was a switch out */
};

void ledger_cpu_init(struct ledger_cpu_builder *b, uint64_t period_ns, bool exclude_idle,
                     uint64_t start_ns, uint64_t end_ns);
/* Later samples are of another clock: counted samples are discarded. */
void ledger_cpu_set_clock(struct ledger_cpu_builder *b, uint64_t period_ns, bool exclude_idle);
void ledger_cpu_done(struct ledger_cpu_builder *b);

/* Sampling starts at this time: discards all counts and keeps the state. */
void ledger_cpu_restart(struct ledger_cpu_builder *b, uint64_t start_ns);

/* A machine-wide switch record; `pid` is that of the thread in the record. */
void ledger_cpu_switch(struct ledger_cpu_builder *b, uint64_t time_ns, int32_t pid, bool out,
                       int32_t other_pid);
/* A sample of the clock. */
void ledger_cpu_sample(struct ledger_cpu_builder *b, uint64_t time_ns, bool idle, uint64_t weight);
/*
 * Closes the account at `to_ns`, or at the end of sampling if that is earlier, and starts the next
 * one there: each time and each tick is in exactly one account. A tick that is served after the
 * cut, more than half a period late, is missing in the first account and surplus in the next.
 */
struct ledger_cpu ledger_cpu_cut(struct ledger_cpu_builder *b, uint64_t to_ns);
/* Closes the account at `end_ns` and completes b->sums. */
void ledger_cpu_finish(struct ledger_cpu_builder *b, uint64_t end_ns);

#endif
