/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status: the state of a measurement at one moment, as plain data: for queries while it runs
 * (`assay status`), for sinks (fill levels of buffers in a window), and for its end.
 *
 * Times in ns; "wall" is since 1970, all others are of CLOCK_MONOTONIC. Sizes in bytes. All
 * counts are since the start of sampling. Ticks are of the main event, weighted as in a report:
 * while the rate is lowered, one tick stands for several. session_status_done() frees. Uses: base,
 * event, source.
 */
#ifndef ASSAY_SESSION_STATUS_H
#define ASSAY_SESSION_STATUS_H

#include "event/recording.h"
#include "source/perf/cpu_stat.h"

#include <stdbool.h>
#include <stdint.h>

struct session_status_cpu {
	uint32_t cpu;
	uint64_t ring_bytes;      /* size of the CPU's ring, or of its two rings together */
	uint64_t ring_used;       /* at the last read */
	uint64_t ring_used_max;   /* maximum */
	uint64_t ring_recent_max; /* maximum since session_buffers_restart() */
	uint64_t ring_used_sum;   /* sum over all `ring_reads`: sum / reads is the average */
	uint64_t ring_reads;
	uint64_t lost; /* records, as reported in the ring so far */
};

struct session_status {
	uint64_t now_ns, now_wall_ns;     /* of this status */
	uint64_t start_ns, start_wall_ns; /* when sampling began */
	uint64_t settled_ns;              /* no earlier record will arrive */
	bool ticks_known;  /* false: records are passed on undecoded, so ticks are not counted */
	bool machine_wide; /* false: no tick is due while other processes run */
	uint64_t ticks_user, ticks_system;
	uint64_t ticks_idle;       /* with missing ticks of idle CPUs */
	uint64_t ticks_unobserved; /* due while a CPU was busy, and missing */
	uint64_t samples;          /* of all events */
	uint64_t records, bytes;   /* read from the rings and passed to the sink */
	uint64_t lost_records;
	uint64_t observer_cpu_ns, observer_wakeups;
	uint64_t read_gap_max_ns; /* longest time from the begin of a read of the rings to the next
	                           */
	uint64_t period_ns, period_asked_ns; /* of the main clock, now; 0: it counts no ns */
	uint64_t sample_cost_ns;             /* CPU time that one sample takes; 0: not measured */
	uint64_t slowed_behind_ns, slowed_budget_ns; /* time at less than the requested rate */
	struct account_budget budget;                /* share_ppm 0: there is none */
	uint64_t budget_spent_ns;                    /* CPU time, of budget.looked_ns */
	uint64_t budget_recent_ppm; /* maximum of a check since session_buffers_restart() */
	VEC(struct session_status_cpu) cpus;
	struct cpu_stats stats; /* /proc/stat, now */
};

void session_status_done(struct session_status *s);

#endif
