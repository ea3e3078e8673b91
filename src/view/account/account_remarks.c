/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/account/account_remarks.h"

#include <inttypes.h>
#include <math.h>

#define RESIDUAL_EXPLAINED 0.01
/* A smaller part of the user time in files that cannot be read gets no remark. */
#define UNREAD_SHARE 0.05

static double of_wall(const struct account_view *a, double ns)
{
	return a->total.wall_ns ? 100 * ns / (double)a->total.wall_ns : 0;
}

/* 1 to 5 us were measured in a virtual machine, where the timers of two clocks are set each time.
 */
#define SWITCHING_MOST_NS 10000

/*
 * The residual of threads compares switch records with the kernel's counter; ticks are not in it.
 * The record of an exit comes after the counter's end.
 */
static void explain_threads(struct account_view *a, double share)
{
	double residual_ns = (double)a->total.residual_ns;
	double each_ns =
	        fabs(residual_ns) / ((double)(residual_ns < 0 ? a->switches : a->threads) + 1);

	if (!a->counted_oncpu_ns || !a->has_idle)
		account_remark(
		        a,
		        "The residual of %.1f %% is time on a CPU for which there are no samples: "
		        "the "
		        "kernel's own count is not known.",
		        share);
	else if (each_ns <= SWITCHING_MOST_NS)
		account_remark(
		        a,
		        "The residual of %.1f %% is the work of %" PRIu64
		        " %s: for each, the kernel's counter and the record are %.1f us apart.",
		        share, residual_ns < 0 ? a->switches : (uint64_t)a->threads,
		        residual_ns < 0 ? "switches" : "ends of threads", each_ns / 1e3);
	else if (a->lost)
		account_remark(
		        a,
		        "The residual of %.1f %%: %" PRIu64 " records were lost, and switches of "
		        "threads may be among them. A larger --memory or a lower rate loses fewer.",
		        share, a->lost);
	else
		account_remark(
		        a,
		        "The residual of %.1f %%: by the switch records the threads were on a CPU "
		        "for %s than the kernel counted. Some of their records are missing: "
		        "threads "
		        "may have begun while sampling was set up. Record again to check this.",
		        share, residual_ns > 0 ? "longer" : "less time");
}

void account_explain_residual(struct account_view *a)
{
	const struct account_terms *t = &a->total;
	double share = of_wall(a, (double)t->residual_ns);

	if (!a->present ||
	    (share <= 100 * RESIDUAL_EXPLAINED && share >= -100 * RESIDUAL_EXPLAINED))
		return;
	if (!a->machine_wide)
		explain_threads(a, share);
	else if (fabs((double)t->residual_ns) <= t->chance_ns)
		account_remark(a,
		               "The residual of %.1f %% is within the %.1f %% that are expected of "
		               "%" PRIu64 " ticks: a longer recording or a higher rate has less.",
		               share, of_wall(a, t->chance_ns), a->ticks.due);
	else if (t->residual_ns > 0 && t->unknown_ns * 2 > (uint64_t)t->residual_ns)
		account_remark(
		        a,
		        "The residual of %.1f %% is mostly time before the first switch record: "
		        "the threads that ran then are not known.",
		        share);
	else if (!a->has_idle)
		account_remark(
		        a,
		        "The residual of %.1f %% is time in which no tick came: without switch "
		        "records assay cannot distinguish idle CPUs from CPUs that were not "
		        "observed.",
		        share);
	else if (t->residual_ns < 0)
		account_remark(
		        a,
		        "The residual of %.1f %%: samples represent more time than the switch "
		        "records count as busy. Ticks that were delayed in idle time were counted "
		        "after the switch, or the recording is too short for its rate.",
		        share);
	else
		account_remark(
		        a,
		        "The residual of %.1f %%: fewer ticks were due in busy time than expected "
		        "for its length. Work in step with the timer, or very short, falls "
		        "between the ticks. Record again with another -F to check this.",
		        share);
}

#define MISSED_LEAST 0.05
#define SHORT_TICKS 4 /* a thread that runs for so many ticks misses less than a fifth of them */

/* In a recording of processes each thread has timers of its own, which begin with the thread. */
void account_explain_short_threads(struct account_view *a, uint64_t period_ns)
{
	int64_t missed_ns = a->has_unobserved ? a->total.unobserved_ns : a->total.residual_ns;
	double mean_ns = a->threads ? (double)a->oncpu_ns / a->threads : 0;

	if (a->machine_wide || !a->present || !a->clock || !a->oncpu_ns ||
	    (double)missed_ns < MISSED_LEAST * (double)a->oncpu_ns ||
	    mean_ns > SHORT_TICKS * (double)period_ns)
		return;
	account_remark(
	        a,
	        "%.1f %% of the time on a CPU has no samples. The first sample of a thread comes "
	        "%.3g "
	        "ms of CPU time after its start, and the %" PRIu32 " threads ran for %.3g ms on "
	        "average. -a samples CPUs instead, and so threads of any length; a higher rate "
	        "misses "
	        "less.",
	        100 * (double)missed_ns / (double)a->oncpu_ns, (double)period_ns / 1e6, a->threads,
	        mean_ns / 1e6);
}

void account_explain_missing(struct account_view *a, bool part)
{
	if (!a->has_kernel)
		account_remark(
		        a, "The kernel was not sampled: its time and the time of interrupts are in "
		           "unobserved.");
	if (a->machine_wide && a->present && !a->has_idle)
		account_remark(
		        a,
		        "There are no switch records (perf record --switch-events): busy and idle "
		        "come from samples, and unobserved time is not known.");
	else if (a->machine_wide && a->present && !a->has_unobserved)
		account_remark(a,
		               "The event has no fixed period, so unobserved time is not known.");
	if (!a->machine_wide && a->present && a->clock && !a->has_unobserved)
		account_remark(
		        a,
		        "The kernel's count of time on CPU is not in the file%s: what samples "
		        "missed is in the residual.",
		        part ? " for a part of the time" : "");
	if (!a->machine_wide && !a->present)
		account_remark(
		        a, "There are no switch records: the report has samples only, no time on "
		           "CPU, runnable or blocked.");
	if (!a->has_split && a->ticks.seen.kernel)
		account_remark(
		        a, "There are no call chains: the kind of kernel entry is not known, and "
		           "interrupts are counted for the functions that they interrupted.");
	if (!a->clock && a->present)
		account_remark(
		        a,
		        "The event does not count time: the shares of its samples split the busy "
		        "time.");
	if (a->machine_wide && a->present && a->cpus && !a->has_steal)
		account_remark(
		        a,
		        "Steal was not recorded%s: time that a hypervisor took is in unobserved.",
		        part ? " for a part of the time" : "");
}

/* Much user code that cannot be read: returns from the kernel in it are counted as user. */
void account_explain_unread(struct view *v, const struct kernel_exits *e, uint8_t event,
                            struct account_view *a)
{
	double user = 0;

	vec_each (row, &v->profile->rows)
		user += row->event == event && row->mode == PROFILE_USER ? (double)row->weight : 0;
	if ((double)e->unread > UNREAD_SHARE * user)
		account_remark(a,
		               "The code of %.1f %% of the user time cannot be read here: returns "
		               "from the "
		               "kernel in it are not known, and are counted as user.",
		               100 * (double)e->unread / user);
}
