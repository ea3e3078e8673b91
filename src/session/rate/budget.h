/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget: which rate keeps measuring within a share of a CPU's time.
 *
 * What measuring takes is what samples take from the CPU that has most of them, and the
 * recorder's own CPU time spread over the CPUs. budget_begin() says how fast to begin, by what
 * one sample costs; budget_look(), about once a second, by what was seen. The rate is lowered when
 * the share is above the budget in two looks, or in the mean; it is raised, up to the rate asked
 * for, when that has been well below for a while; it aims a little below, so that it need not
 * change each time.
 *
 * Setting up takes CPU time before the first sample. Until it is paid off, the share that
 * measuring may take is lower than the budget (`held`), so that a whole recording keeps the
 * budget from budget_keeps_from_ns() on. Where its length is known, the share is the one that
 * pays it off by the end.
 *
 * Only arithmetic: no clock, no kernel. Shares are of one CPU's time, 0.01 = 1 %; rates are of
 * the main clock, in Hz. Nothing to free; one thread. Uses: nothing.
 */
#ifndef ASSAY_SESSION_RATE_BUDGET_H
#define ASSAY_SESSION_RATE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_FLOOR_HZ 19 /* fewer tell nothing: kept even where that is over the budget */

struct budget {
	double share, asked_hz, hz; /* hz: what to sample with now */
	double set_up_ns, debt_ns;  /* set-up: CPU time over the CPUs; what is not paid off yet */
	double held;                /* the share to keep until that is paid off */
	double own;                 /* recorder's, the mean since the rate was changed */
	double last;                /* share of the last look, 0: none since the change */
	double before_hz, before;   /* the rate until then, and what was taken at it */
	uint64_t since_ns;          /* that was so long ago */
	uint64_t patience_ns;       /* below the budget for so long before it is raised */
	bool raised;                /* the change was to a higher one */
	/* For the account */
	double spent_ns, most; /* share x time; the largest share of one look */
	uint64_t looked_ns, over_ns;
	double recent; /* as `most`, of the looks since its reader set it to 0 */
};

/* What was seen since the last look. */
struct budget_load {
	uint64_t elapsed_ns;
	double hz;       /* the rate that was in force: budget.hz or, held down by others, less */
	double sampling; /* share: samples a second x their cost, of the busiest CPU */
	double own;      /* share: the recorder's CPU time / (elapsed x CPUs) */
};

/* What is known before the first sample. */
struct budget_start {
	double share, asked_hz;
	double sample_ns; /* what one more sample of the main clock is expected to take, all in all
	                   */
	double set_up_ns; /* CPU time taken until now, spread over the CPUs */
	double duration_ns; /* of sampling; 0: not known */
};

void budget_begin(struct budget *b, const struct budget_start *start);

/* The shortest recording that keeps the budget, as far as is known at the start. */
double budget_keeps_from_ns(const struct budget *b);

/* True: b->hz is another one from now on. */
bool budget_look(struct budget *b, const struct budget_load *load);

#endif
