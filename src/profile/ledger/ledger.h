/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ledger: the account of all time in raw terms, for each CPU and each process.
 *
 * Each term is measured by itself: busy and idle from switch records, ticks
 * from samples, ticks due from the timer's grid, steal from /proc/stat. No
 * term is computed as a remainder; view/account/account.h adds them up and prints the
 * residual. Times in ns. Uses: base, event.
 */
#ifndef ASSAY_PROFILE_LEDGER_LEDGER_H
#define ASSAY_PROFILE_LEDGER_LEDGER_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* One CPU of one recording. */
struct ledger_cpu {
	uint32_t recording; /* index into profile.recordings */
	uint32_t cpu;
	uint64_t period_ns;        /* of the clock, 0: no grid (PMU) */
	uint64_t wall_ns;          /* end of sampling - start of sampling */
	uint64_t busy_ns, idle_ns; /* from switch records, or from samples of a clock */
	uint64_t unknown_ns; /* before the first switch record, or all (ledger_cpu_is_timed) */
	uint64_t switches;
	bool has_switches; /* false: no switch records; busy is from samples of pid != 0 */
	uint64_t ticks_due_busy, ticks_due_idle;   /* grid points in busy and idle time */
	uint64_t ticks_seen_busy, ticks_seen_idle; /* samples on the grid */
	uint64_t weight_busy, weight_idle;         /* sum of their periods in ns, 0: no clock */
	uint64_t ticks_lost; /* records of all kinds that did not fit into the ring */
	uint64_t throttled;  /* throttle records */
	uint64_t steal_ns;   /* /proc/stat, 0 if not measured */
	bool has_steal;
};

/*
 * False if the event counts no time and there are no switch records: busy and idle time are
 * unknown.
 */
static inline bool ledger_cpu_is_timed(const struct ledger_cpu *c)
{
	return c->has_switches || c->period_ns;
}

/* Adds the sums of another stretch of time of the same CPU. */
void ledger_cpu_add(struct ledger_cpu *to, const struct ledger_cpu *c);

/* Time of the threads of one process (a recording of a command or with -p). */
struct ledger_process {
	uint32_t process; /* id in profile.processes */
	uint32_t threads; /* number of threads in the sums */
	uint64_t wall_ns; /* sum over threads of their time in the recording */
	uint64_t oncpu_ns, runnable_ns, blocked_ns; /* from switch records */
	uint64_t unknown_ns; /* off CPU before a thread's first record: runnable or blocked */
	uint64_t weight;     /* samples x period: a second measurement of on-CPU time */
	/* Times that switch records began or ended a time on a CPU. Stores do not keep them. */
	uint64_t switches;
};

struct ledger {
	bool machine_wide;
	VEC(struct ledger_cpu) cpus;          /* machine-wide recordings */
	VEC(struct ledger_process) processes; /* always, if there are switch records */
	uint64_t counted_oncpu_ns;            /* by the kernel's counter, 0 if unknown */
};

#endif
