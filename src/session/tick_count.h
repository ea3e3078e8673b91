/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tick_count: counts the main clock's ticks while recording: in user mode, in kernel mode, of idle
 * CPUs, and ticks that were due and are missing.
 *
 * Input: decoded events in time order. Due ticks of each CPU are computed by the same ledger as in
 * a report. A new struct is all zeros; tick_count_init() sets it up. One thread, times in ns. Uses:
 * base, event, profile.
 */
#ifndef ASSAY_SESSION_TICK_COUNT_H
#define ASSAY_SESSION_TICK_COUNT_H

#include "event/event.h"
#include "profile/ledger/ledger_cpu.h"
#include "session/status.h"

struct tick_count {
	uint64_t period_ns; /* of the main clock, 0: it has no grid */
	uint64_t start_ns;
	bool exclude_idle;
	uint64_t user, system, idle, samples;
	VEC(struct ledger_cpu_builder) cpus; /* by number */
	VEC(bool) seen;
};

void tick_count_init(struct tick_count *t, uint64_t period_ns, bool exclude_idle);
void tick_count_done(struct tick_count *t);
/* Sampling started at start_ns: counts from there. */
void tick_count_begin(struct tick_count *t, uint64_t start_ns);
/* SAMPLE (of the main event if attr is 0), SWITCH; others are skipped. */
void tick_count_event(struct tick_count *t, const struct event *e);
/* At the end: also counts ticks that were due until then. */
void tick_count_finish(struct tick_count *t, uint64_t end_ns);
void tick_count_status(const struct tick_count *t, struct session_status *status);

#endif
