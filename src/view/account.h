/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account: the closing account of a recording.
 *
 *	wall x CPUs = user + kernel + irq + idle + steal + unobserved + residual
 *
 * Every term but the residual is measured by itself: user, kernel and irq are
 * samples times their period, idle comes from switch records, unobserved from
 * the ticks that were due in busy time and did not come, steal from
 * /proc/stat as far as ticks are missing. The residual is what is left over
 * and may be negative. Of one process the whole is the lifetime of its
 * threads, idle is the time they were off the CPU (runnable + blocked, from
 * switch records), and unobserved is what the kernel's own counter of their
 * time on CPU has more than samples stand for.
 *
 * Events that count no time (cycles) split the busy time that switch records
 * measured. Without switch records there is no account of time: `present` is
 * false, and `events` holds counts of events.
 *
 * Times in ns. account_view_new / account_view_free. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_ACCOUNT_H
#define ASSAY_VIEW_ACCOUNT_H

#include "view/view.h"

struct account_terms {
	uint64_t wall_ns; /* of the CPUs (or threads) together */
	uint64_t user_ns;
	uint64_t syscalls_ns, faults_ns, threads_ns, other_ns; /* kernel, without interrupts */
	uint64_t hardirq_ns, softirq_ns;                       /* that hit busy time */
	uint64_t idle_ns, idle_irq_ns;                         /* idle_irq: of idle, interrupts */
	uint64_t steal_ns, steal_measured_ns;                  /* steal: as far as ticks miss */
	int64_t unobserved_ns;
	uint64_t lost_ns; /* of unobserved: the kernel said so */
	int64_t residual_ns;
	uint64_t unknown_ns; /* of residual: before the first switch record */
};

/* The main event by what the CPU was doing; `all` is the sum of the others. */
struct account_modes {
	uint64_t user, kernel, irq, idle, all;
};

struct account_ticks {
	struct account_modes seen; /* samples of the main event, in its periods */
	uint64_t due, missing_busy, missing_idle, lost, throttled;
};

struct account_line {
	uint32_t cpu;
	struct account_terms terms;
	struct account_modes events;
};

struct account_view {
	bool machine_wide;
	bool has_unobserved; /* false: no switch records or no timer's grid */
	bool has_split;      /* false: no call chains, so how the kernel was entered is not known */
	bool has_idle;       /* false: idle is from samples, or not known at all */
	bool has_kernel;     /* false: the kernel was not sampled (no right, or not asked for) */
	bool has_steal;
	bool clock;       /* the main event counts ns */
	bool present;     /* false: the event is no measure of time, or no account was kept */
	bool counted;     /* not present: `events` has the machine's events in place of its time */
	uint64_t wall_ns; /* elapsed; total.wall_ns = wall_ns x cpus (one process: all threads) */
	uint32_t cpus;
	struct account_terms total;
	struct account_ticks ticks;
	struct account_modes events;    /* sums of periods of an event that counts no time */
	VEC(struct account_line) lines; /* per CPU */
	/* one process */
	uint64_t oncpu_ns, runnable_ns, blocked_ns, counted_oncpu_ns;
	uint32_t threads;
	VEC(char *) remarks; /* sentences: what a residual is made of, what cannot be had */
};

/* Partial: only some of the time's samples were read, so that no books can be closed. */
struct account_view *account_view_new(struct view *v, bool partial);
void account_view_free(struct account_view *a);

/* Whether user, kernel and interrupts are times: a clock's, or shares of measured busy time. */
bool account_is_timed(const struct account_view *a);

uint64_t account_kernel_ns(const struct account_terms *t);
uint64_t account_irq_ns(const struct account_terms *t);

#endif
