/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget: finds the rate at which the cost of the measurement stays within a share of a CPU's time.
 *
 * The cost is the time of samples on the CPU with the most samples, plus the recorder's CPU time
 * divided by the number of CPUs. budget_begin() computes the first rate from the cost of one
 * sample; budget_look(), each one or two seconds, adjusts it to the measured cost. The rate is
 * lowered if the share is above the budget in two checks, or in the mean. It is raised, up to the
 * requested rate, if the share was well below for some time. The target is slightly below the
 * budget, so that the rate does not change all the time.
 *
 * The set-up uses CPU time before the first sample. Until this debt is paid off, the permitted
 * share is below the budget (`held`), so that a whole recording keeps the budget if it is at least
 * budget_keeps_from_ns() long. If its length is known, the share pays the debt off by its end.
 *
 * Pure arithmetic: no clock, no kernel. Shares are of one CPU's time, 0.01 = 1 %; rates are of
 * the main clock, in Hz. Nothing to free; one thread. Uses: nothing.
 */
#ifndef ASSAY_SESSION_RATE_BUDGET_H
#define ASSAY_SESSION_RATE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_FLOOR_HZ 19 /* lowest useful rate: kept even if it exceeds the budget */

struct budget {
	double share, asked_hz, hz; /* hz: the current rate */
	/* Set-up: CPU time over the CPUs; the part that is not paid off yet. */
	double set_up_ns, debt_ns;
	double held;              /* the share until the debt is paid off */
	double own;               /* mean share of the recorder since the last change of the rate */
	double last;              /* share in the last check, 0: none since the change */
	double before_hz, before; /* the rate before the change, and its share */
	uint64_t since_ns;        /* time since the change */
	uint64_t patience_ns;     /* time below the budget before a raise */
	bool raised;              /* the last change was a raise */
	/* For the account */
	double spent_ns, most; /* share x time; the largest share in one check */
	uint64_t looked_ns, over_ns;
	double recent; /* as `most`, since a reader reset it to 0 */
};

/* The cost since the last check. */
struct budget_load {
	uint64_t elapsed_ns;
	double hz;       /* the rate in use: budget.hz, or less during overload */
	double sampling; /* share: samples per second x their cost, on the busiest CPU */
	double own;      /* share: the recorder's CPU time / (elapsed x CPUs) */
};

/* The values before the first sample. */
struct budget_start {
	double share, asked_hz;
	double sample_ns;   /* expected total cost of one more sample */
	double set_up_ns;   /* CPU time used so far, divided by the number of CPUs */
	double duration_ns; /* of sampling; 0: unknown */
};

void budget_begin(struct budget *b, const struct budget_start *start);

/* Length of the shortest recording that keeps the budget, estimated at the start. */
double budget_keeps_from_ns(const struct budget *b);

/* True: b->hz has changed. */
bool budget_look(struct budget *b, const struct budget_load *load);

#endif
