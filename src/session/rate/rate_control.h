/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rate_control: lowers the sampling rate on overload or above the budget, and restores it.
 *
 * If the recorder falls behind, each step halves the rate of all clocks, down to a minimum; each
 * quiet interval doubles it again. With a budget, the rate is also limited so that the measurement
 * uses no more than that share of a CPU's time. The lower of the two rates applies. If the lowest
 * rate exceeds the budget, the samples of --waits end. Every change is
 * stored with its time, for the account.
 *
 *	rate_control_init()	after the events were opened
 *	rate_control_budget()	with a budget: measures the cost of a sample
 *	rate_control_begin()	after the set-up, before sampling is enabled
 *	rate_control_look()	after each check of the rings; with a budget at least each
 *				rate_control_rest_ms()
 *	rate_control_done()
 *
 * One thread. Times in ns on the recording's clock. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_RATE_RATE_CONTROL_H
#define ASSAY_SESSION_RATE_RATE_CONTROL_H

#include "base/process/foreign.h"
#include "event/recording.h"
#include "session/plan.h"
#include "session/rate/rate_costs.h"
#include "session/status.h"
#include "source/perf/perf_source.h"

/*
 * If the list is full, the changes in its older half are merged in pairs. A merged change has the
 * mean rate of its two intervals, weighted by time. The totals of slowed time are kept separately.
 */
#define SHED_CHANGES_MAX 1024

struct rate_control_change {
	double stretch;    /* from then on every clock's period is its first period times this */
	bool budget;       /* the budget caused the change, not the rings */
	uint64_t changes;  /* number of changes: 1, or more after a merge */
	uint64_t slowed;   /* changes among them that full rings caused */
	double slowest;    /* the largest stretch that these changes set */
	uint64_t *done_ns; /* by CPU of the source */
};

struct rate_control_bound;

struct rate_control {
	const struct plan *plan;
	struct perf_source *source;
	const struct foreign *foreign; /* its CPU time is included; NULL: none */
	double stretch;                /* the current factor */
	double behind, most;           /* factor for full rings; its maximum, 0: never */
	VEC(struct rate_control_change) changes;
	uint64_t merged; /* number of changes that were merged into others */
	uint64_t changed_ns, calm_since_ns, patience_ns;
	uint64_t slowed_ns[2]; /* before the last change: [0] for the rings, [1] for the budget */
	struct rate_records records; /* the reader of the rings counts them */
	uint64_t waits_end_ns;       /* when the budget ended them; 0: it did not */
	struct rate_control_bound
	        *bound; /* NULL: no budget, or (`unbound`) none that could be applied*/
	bool unbound;
};

/* True for a switch or a wake-up of --waits. */
bool rate_control_is_wait(const struct perf_source_event *event);

/* `foreign` is set afterwards. */
void rate_control_init(struct rate_control *s, const struct plan *plan, struct perf_source *source);
void rate_control_done(struct rate_control *s);

/*
 * Sets the budget: the maximum share of a CPU's time. Keeps the caller busy for about 20 ms, to
 * measure what samples and records cost on this machine.
 */
void rate_control_budget(struct rate_control *s, double share);
/*
 * Sets the first rate. `cpu_ns`: the recorder's CPU time so far. `duration_ns`: planned length of
 * sampling, 0: unknown. Returns a sentence, which the caller frees, if the recording may be too
 * short to keep the budget; else NULL.
 */
char *rate_control_begin(struct rate_control *s, uint64_t cpu_ns, uint64_t duration_ns);

/*
 * Call it after each check of the rings. `fullest`: fill level of the fullest ring; `lost`: records
 * were lost.
 */
void rate_control_look(struct rate_control *s, double fullest, bool lost, uint64_t now_ns);
/* The time until the next check of the budget, in ms; INT_MAX: there is no budget. */
int rate_control_rest_ms(const struct rate_control *s);
/* Sampling is disabled: includes the cost since the last check. */
void rate_control_finish(struct rate_control *s, uint64_t now_ns);

/*
 * The period that a sample of an event that assay opened stands for. For a software clock the
 * kernel keeps recording the period with which the event was opened.
 */
uint64_t rate_control_period(const struct rate_control *s, size_t event, size_t cpu,
                             uint64_t time_ns, uint64_t recorded);

void rate_control_account(const struct rate_control *s, struct account *account);
/* Reports the current period of the main clock, the cost of a sample, and the use of the budget. */
void rate_control_status(const struct rate_control *s, struct session_status *status);
/* Resets the recent maximum. */
void rate_control_restart(struct rate_control *s);

#endif
