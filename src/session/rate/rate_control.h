/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rate_control: the rate at which is sampled, while that is not the one asked for.
 *
 * A recorder that falls behind samples more slowly for a while: each step halves the rate of
 * all clocks, down to a floor; each quiet while doubles it again. With a budget the rate is
 * besides kept where measuring takes no more than that share of a CPU's time. Of the two rates
 * the lower one holds. Every change is kept with its time, for the account.
 *
 *	rate_control_init()	the events are open
 *	rate_control_budget()	with a bound: measures what samples take
 *	rate_control_begin()	all is set up, and sampling is not switched on yet
 *	rate_control_look()	after each look at the rings; with a budget at least each second or
 *two rate_control_done()
 *
 * One thread. Times in ns on the recording's clock. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_RATE_RATE_CONTROL_H
#define ASSAY_SESSION_RATE_RATE_CONTROL_H

#include "base/process/foreign.h"
#include "event/recording.h"
#include "session/plan.h"
#include "session/status.h"
#include "source/perf/perf_source.h"

/*
 * When the list is full, the changes of its older half are merged in pairs: each merged change has
 * the mean rate of its two stretches, weighted by their times. Times slowed are summed up apart.
 */
#define SHED_CHANGES_MAX 1024

struct rate_control_change {
	double stretch;    /* every clock's period is its first one times this from then on */
	bool budget;       /* that asks for it, not the rings */
	uint64_t changes;  /* 1, and more after a merge */
	uint64_t slowed;   /* of them: the rings asked for a lower rate */
	double slowest;    /* most stretch that those set */
	uint64_t *done_ns; /* by CPU of the source */
};

struct rate_control_bound;

struct rate_control {
	const struct plan *plan;
	struct perf_source *source;
	const struct foreign *foreign; /* its CPU time counts, too; NULL: none */
	double stretch;                /* now */
	double behind,
	        most; /* what the rings ask for, and may; most 0: the rate is never changed */
	VEC(struct rate_control_change) changes;
	uint64_t merged; /* changes that are no longer listed by themselves */
	uint64_t changed_ns, calm_since_ns, patience_ns;
	uint64_t slowed_ns[2]; /* before: for the rings, [1] for the budget */
	uint64_t tracked;      /* records that are no samples, counted by whoever reads them */
	struct rate_control_bound *bound; /* NULL: no budget, or none that could be kept: */
	bool unbound;
};

/* `foreign` is set afterwards. */
void rate_control_init(struct rate_control *s, const struct plan *plan, struct perf_source *source);
void rate_control_done(struct rate_control *s);

/*
 * Measuring is to take at most this share of a CPU's time. Keeps the caller busy for 16 ms,
 * to find out what a sample costs here.
 */
void rate_control_budget(struct rate_control *s, double share);
/*
 * Sets the rate to begin with: `cpu_ns` is what the recorder has taken until now, `duration_ns`
 * how long it is going to sample, 0: not known. A sentence, the caller's to free, if a
 * recording may be too short to keep the budget; else NULL.
 */
char *rate_control_begin(struct rate_control *s, uint64_t cpu_ns, uint64_t duration_ns);

/* After each look at the rings: the fullest one's share, and whether records were lost. */
void rate_control_look(struct rate_control *s, double fullest, bool lost, uint64_t now_ns);
/* Sampling is off: what was taken since the last look counts, too. */
void rate_control_finish(struct rate_control *s, uint64_t now_ns);

/*
 * What a sample stands for that an event opened by us made: of a software clock
 * the kernel goes on saying the period that it was opened with.
 */
uint64_t rate_control_period(const struct rate_control *s, size_t event, size_t cpu,
                             uint64_t time_ns, uint64_t recorded);

void rate_control_account(const struct rate_control *s, struct account *account);
/* The main clock's period now, what a sample costs, and what there was of the budget. */
void rate_control_status(const struct rate_control *s, struct session_status *status);
/* What was most of late begins anew. */
void rate_control_restart(struct rate_control *s);

#endif
