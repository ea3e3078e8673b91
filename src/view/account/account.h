/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account: the closing account of a recording.
 *
 *	wall x CPUs = user + exit + kernel + irq + idle + steal + unobserved + residual
 *
 * exit is the return from the kernel: samples of user code that are the kernel's, at the most
 * (delay/kernel_exits.h). It is not in user.
 *
 * Every term except the residual is measured by itself. User, kernel and irq are the samples times
 * their period. Idle comes from switch records. Unobserved comes from the ticks that were due in
 * busy time and are missing. Steal comes from /proc/stat, limited to the time of missing ticks. The
 * residual is the difference that remains; it may be negative.
 *
 * For a recording of one process the whole is the lifetime of its threads. Idle is the time that
 * the threads were off the CPU (runnable + blocked, from switch records, and `unknown` before the
 * first record of a thread). Unobserved is the threads' CPU time as the kernel counted it, minus
 * the time that samples stand for.
 *
 * Time on a CPU is measured twice: by the kernel's counter, and by the switch records, which also
 * say how long threads were off the CPU. The residual is the difference. The kernel writes a record
 * of a switch after it has switched on the thread's events, and before it switches them off: so the
 * counter has some microseconds more for each switch.
 *
 * An event that does not count time (cycles) splits the busy time that switch records measured.
 * Without switch records such an event has no account of time: `present` is false, and `events`
 * holds counts of events.
 *
 * Times are in ns. account_view_new() allocates, account_view_free() frees; nothing fails. The view
 * must outlive the account while it is built. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_ACCOUNT_ACCOUNT_H
#define ASSAY_VIEW_ACCOUNT_ACCOUNT_H

#include "view/delay/kernel_exits.h"
#include "view/view.h"

#define KERNEL_EXIT_NAME "return from the kernel"

struct account_terms {
	uint64_t wall_ns; /* sum over all CPUs (or threads) */
	uint64_t user_ns;
	uint64_t exit_ns; /* user samples at the return from the kernel */
	uint64_t syscalls_ns, faults_ns, threads_ns, other_ns; /* kernel, without interrupts */
	uint64_t hardirq_ns, softirq_ns;                       /* interrupts during busy time */
	uint64_t idle_ns, idle_irq_ns;                         /* idle_irq: interrupts during
	                                                        * idle */
	uint64_t steal_ns, steal_measured_ns;                  /* steal: limited to the time of
	                                                        * missing ticks */
	int64_t unobserved_ns;
	uint64_t lost_ns; /* part of unobserved: records that the kernel counted as lost */
	int64_t residual_ns;
	/* Time before the first switch record. The machine: part of residual. A process: of idle.
	 */
	uint64_t unknown_ns;
	double chance_ns; /* the residual that is expected by chance for this number of ticks, of
	                     either sign; 0: not known */
};

/* Sums of the main event by CPU mode; `all` is the sum of the others. */
struct account_modes {
	uint64_t user, kernel, irq, idle, all;
};

struct account_ticks {
	struct account_modes seen; /* samples of the main event, in periods */
	uint64_t due, missing_busy, missing_idle, lost, throttled;
};

struct account_line {
	uint32_t cpu;
	struct account_terms terms;
	struct account_modes events;
};

struct account_view {
	bool machine_wide;
	bool has_unobserved; /* false: no switch records, or the event has no fixed period */
	bool has_split;      /* false: no call chains, so the kind of kernel entry is not known */
	bool has_idle;       /* false: idle time comes from samples, or is not known */
	bool has_kernel;     /* false: the kernel was not sampled (no permission, or not
	                      * requested) */
	bool has_steal;
	bool clock;       /* the main event counts ns */
	bool present;     /* false: the event does not measure time, or there is no account */
	bool counted;     /* `events` splits the machine's events instead of its time; only if not
	                     `present` */
	uint64_t wall_ns; /* elapsed; total.wall_ns = wall_ns x cpus (one process: sum over
	                   * threads) */
	uint32_t cpus;
	struct account_terms total;
	struct kernel_estimate exit; /* of total.exit_ns: what is the kernel's */
	uint64_t exit_chained_ns; /* part of total.user_ns: found by call chains, mostly faults */
	struct account_ticks ticks;
	struct account_modes events;    /* sums of periods, for an event that does not count time */
	VEC(struct account_line) lines; /* per CPU */
	/* Only for a recording of one process. */
	uint64_t oncpu_ns, runnable_ns, blocked_ns, counted_oncpu_ns;
	uint64_t switched_oncpu_ns; /* by switch records; oncpu_ns is counted_oncpu_ns if known */
	uint64_t switches;          /* onto a CPU and off it */
	uint64_t lost;              /* records of all kinds that the kernel dropped */
	uint32_t threads;
	VEC(char *) remarks; /* sentences that explain the residual and name missing figures */
};

struct account_view *account_view_new(struct view *v);
void account_view_free(struct account_view *a);

/* Whether user, kernel and irq are times: the event is a clock, or it splits measured busy time. */
bool account_is_timed(const struct account_view *a);

uint64_t account_kernel_ns(const struct account_terms *t);
uint64_t account_irq_ns(const struct account_terms *t);
/* user + exit + kernel + irq: the time that busy samples stand for */
uint64_t account_sampled_ns(const struct account_terms *t);

#endif
