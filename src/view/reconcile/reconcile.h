/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile: compares what sampling and counting say about the CPU time of each function.
 *
 * Both methods measure the same quantity in different runs: the CPU time of a function in a run of
 * the program. Each figure has an interval: the scatter between runs if there are three or more,
 * else the scatter of samples within a run; and for counted times also the error of the
 * compensation, which all runs have in common. Two figures agree if their difference lies within
 * its interval or is below 2 %, the interval is narrow enough to show a difference of a quarter,
 * and both methods have data of the function. They differ if the difference is beyond an interval
 * that holds for all functions of the process together; between both intervals it may be chance. A
 * difference gets the first reason that can explain its size and its sign (reconcile_reason.c);
 * without one it is a difference with an unknown reason.
 *
 * reconcile_new() / reconcile_free(); the runs must outlive it. Times are ns per run. Nothing
 * fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_RECONCILE_RECONCILE_H
#define ASSAY_VIEW_RECONCILE_RECONCILE_H

#include "view/reconcile/reconcile_runs.h"

enum reconcile_verdict { RECONCILE_AGREE, RECONCILE_DIFFER, RECONCILE_CANNOT_TELL };
#define RECONCILE_VERDICTS 3

enum reconcile_reason {
	REASON_NONE,
	/* why the figures do not show it */
	REASON_FEW_SAMPLES,
	REASON_SHORT_CALLS,
	REASON_CHANCE,
	/* why the runs, or the methods, differ */
	REASON_SCATTER,
	REASON_WAITING,
	REASON_WORK,
	REASON_NO_CHAINS,
	REASON_CUT_STACKS,
	REASON_INLINED,
	REASON_INLINES,
	REASON_IN_CALLERS,
	REASON_START,
	REASON_SAMPLING,
	REASON_IDLE_HOOKS,
	REASON_CHANGED_CODE,
	REASON_SWITCHES,
	REASON_COST,
	REASON_DELAY,
	REASON_IN_STEP,
	REASON_WHOLE,
	REASON_UNKNOWN,
};
#define RECONCILE_REASONS 22

/* The mean over the runs of a side. */
struct reconcile_estimate {
	double mean_ns, half_ns;  /* half of the 95 % interval */
	double scatter_ns;        /* part of half_ns: between runs */
	double within_ns;         /* expected part, by the scatter within runs */
	double system_ns;         /* part of half_ns: common to all runs */
	double least_ns, most_ns; /* of a run */
	double count;             /* samples, calls */
	double least_count, most_count;
	double cost_ns, folded_ns, cut_ns, delayed_ns, blocked_ns, switches;
	double in_step; /* part of the runs in which a second clock measured another share */
};

/* Time of a function that samples have in its callers. */
struct reconcile_callers {
	double absorbed_ns; /* counted time of callees that no sample has */
	double above_ns;    /* additional time of its callers in samples */
	double below_ns;    /* missing time of its callees in samples */
};

struct reconcile_line {
	uint32_t row; /* of a process: one of its rows */
	struct reconcile_estimate sides[RECONCILE_SIDES];
	double share; /* share of the process's CPU time: the larger one of both methods */
	double difference_ns, half_ns; /* sampled - counted */
	double chance_ns; /* one of all lines may differ by this by chance; at least half_ns */
	struct reconcile_callers callers;
	enum reconcile_verdict verdict;
	enum reconcile_reason reason;
	double longer; /* cannot tell: how many times as long, or as many, runs decide; NAN: none */
};

struct reconcile_process {
	uint32_t process; /* text */
	struct reconcile_line line;
	double own_ns, clock_ns, residual_ns; /* of counted runs, means; NAN: unknown */
	double cut_ns;
	double outside_ns; /* difference of the time in which no function with hooks is open */
	bool unseparated, running, only_sampled, only_counted;
	bool same_ratio; /* most of its functions differ in the ratio of the process */
};

struct reconcile {
	const struct reconcile_runs *runs;
	VEC(struct reconcile_process) processes; /* largest first */
	VEC(struct reconcile_line) lines;        /* by process, then by time, largest first */
	double limit;                            /* lines have at least this share */
	size_t below;                            /* functions below it */
	size_t verdicts[RECONCILE_VERDICTS], reasons[RECONCILE_REASONS];
	/* Shares of the time of all functions, of the larger figure of each; the rest is below the
	 * limit. */
	double shares[RECONCILE_VERDICTS];
	/* Of the functions of which the runs cannot tell: share that longer runs decide, how many
	 * times as long runs decide most of it, and the mean CPU time of a sampled run, in ns. */
	double decided, longer, run_ns;
	double all_ns; /* of all functions, in runs of all processes */
	bool chains;
};

/* `limit`: the least share of a function in its process, 0 to 1. */
struct reconcile *reconcile_new(const struct reconcile_runs *runs, double limit);
void reconcile_free(struct reconcile *r);

/* Parts of this folder. */
/* reconcile_estimate.c: merges the rows [first, first + count) into one row. */
struct reconcile_estimate reconcile_estimate_rows(const struct reconcile_runs *t,
                                                  enum reconcile_side side, const uint32_t *rows,
                                                  size_t count);
/* reconcile_callers.c: by row; the caller frees it. `differences`: by row, sampled - counted. */
struct reconcile_callers *reconcile_callers_new(const struct reconcile_runs *t,
                                                const double *differences);
/* reconcile_reason.c: whether most functions that can show it differ in the ratio of the process.
 */
bool reconcile_has_same_ratio(const struct reconcile_process *p, const struct reconcile_line *lines,
                              size_t count);
/* reconcile_reason.c: sets verdict and reason of a line whose figures are known. */
void reconcile_judge(const struct reconcile *r, const struct reconcile_process *p,
                     struct reconcile_line *line);

/* reconcile_text.c */
const char *reconcile_verdict_word(enum reconcile_verdict verdict); /* "cannot tell" */
const char *reconcile_reason_word(enum reconcile_reason reason);    /* "short calls" */
const char *reconcile_reason_key(enum reconcile_reason reason);     /* "short_calls" */
/* A sentence for all rows with this reason. */
const char *reconcile_reason_text(const struct reconcile *r, enum reconcile_reason reason);

#endif
