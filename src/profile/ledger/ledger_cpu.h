/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ledger_cpu: one CPU's account while its events come in.
 *
 * Switch records say when the CPU was busy and when idle; samples of the clock
 * are ticks seen, and the timer's grid says which ticks were due between two
 * samples. Each missing tick is charged to the state that the CPU was in when
 * it was due. Times in ns on the recording's clock; events in time order.
 * ledger_cpu_init / ledger_cpu_done. Uses: base, event.
 */
#ifndef ASSAY_PROFILE_LEDGER_LEDGER_CPU_H
#define ASSAY_PROFILE_LEDGER_LEDGER_CPU_H

#include "base/memory/vec.h"
#include "event/grid.h"
#include "profile/ledger/ledger.h"

enum cpu_state { CPU_STATE_UNKNOWN, CPU_STATE_IDLE, CPU_STATE_BUSY };

struct cpu_span {
	uint64_t from_ns; /* up to the next span's */
	enum cpu_state state;
};

struct ledger_cpu_builder {
	struct ledger_cpu sums;
	struct grid grid;
	uint64_t start_ns, end_ns; /* of sampling; end 0: not known yet */
	uint64_t since_ns;         /* when the present state began */
	uint64_t due_ns;           /* of the last tick seen */
	uint64_t folded;           /* missing ticks since then that are counted already */
	uint64_t rest_seen[2], rest_missing[2]; /* ns, of busy and idle: not yet a whole tick */
	VEC(struct cpu_span) spans;             /* states since the last tick */
	bool told, exclude_idle, out; /* told: the first state is known; out: last record */
};

void ledger_cpu_init(struct ledger_cpu_builder *b, uint64_t period_ns, bool exclude_idle,
                     uint64_t start_ns, uint64_t end_ns);
/* The samples to come are of another clock: those that were counted are discarded. */
void ledger_cpu_set_clock(struct ledger_cpu_builder *b, uint64_t period_ns, bool exclude_idle);
void ledger_cpu_done(struct ledger_cpu_builder *b);

/* Sampling began only now: what was counted before is forgotten, the state is kept. */
void ledger_cpu_restart(struct ledger_cpu_builder *b, uint64_t start_ns);

/* A machine-wide switch record; `pid` is the thread's that it is about. */
void ledger_cpu_switch(struct ledger_cpu_builder *b, uint64_t time_ns, int32_t pid, bool out,
                       int32_t other_pid);
/* A sample of the clock. */
void ledger_cpu_sample(struct ledger_cpu_builder *b, uint64_t time_ns, bool idle, uint64_t weight);
/*
 * Closes the account at `to_ns`, or at the end of sampling if that is earlier, and begins the next
 * one there: each time and each tick is in exactly one account. A tick that is served after the
 * cut, more than half a period late, is missing in the account before and one too many in the next.
 */
struct ledger_cpu ledger_cpu_cut(struct ledger_cpu_builder *b, uint64_t to_ns);
/* Closes the account at `end_ns`; b->sums is complete then. */
void ledger_cpu_finish(struct ledger_cpu_builder *b, uint64_t end_ns);

#endif
