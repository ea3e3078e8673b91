/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confidence: confidence intervals for shares of samples.
 *
 * Each row of a profile belongs to one group (a function, a process, ...) or to none. A group's
 * share is its samples divided by the samples of all rows in the base. The interval contains the
 * program's share with 95 % confidence, as far as the variation within this run shows. If the
 * program works in random bursts, the interval is as wide as the scatter of the bursts. The
 * interval does not include variation that did not occur in this run, or that another machine or
 * input would cause.
 *
 * Samples are periodic, not binomial, so the variance depends on how the hits of a group cluster.
 * In the sequence of one CPU, a run is a series of successive hits of one group, and a cycle lasts
 * from the start of one run to the start of the next. A short gap, such as an interrupt makes, does
 * not end a run. The variance comes from the scatter of hits over the length of cycles. It equals
 * the binomial variance if samples are independent; it is larger if the program works in bursts and
 * smaller if long phases alternate. Its lower limit is the error at the T edges of runs, if each
 * edge falls anywhere between two ticks: (T/12 + 1/6) samples squared.
 *
 * Blocks of many cycles replace single cycles only if the blocks scatter clearly less: in a program
 * with regular phases the errors of successive cycles cancel. With fewer than five cycles only the
 * edges are used, plus one sample squared for each run of a single sample, which may have been
 * shorter than a tick. CPUs are strata: the distribution of work over CPUs is taken as given. A
 * thread that moves between CPUs looks bursty on each CPU. Therefore the variance over all CPUs in
 * twenty slices of time is used where it is much smaller. The result is Wilson's interval for the
 * number of independent samples that has the same variance.
 *
 * Assumptions: the recording is longer than the program's phases, and the program is not
 * synchronized with the timer. Samples of a synchronized program look steady and are wrong:
 * confidence_steps() detects it with a second clock. Where sample_order.h does not know the order
 * of samples, they are assumed to be independent, and so are all samples of a profile without a
 * time axis. Memory is a few hundred bytes per group. Nothing fails. Uses: base, profile.
 */
#ifndef ASSAY_VIEW_CONFIDENCE_CONFIDENCE_H
#define ASSAY_VIEW_CONFIDENCE_CONFIDENCE_H

#include "profile/profile.h"
#include "view/confidence/sample_order.h"

struct confidence_input {
	const struct profile *profile;
	struct sample_order *order; /* of the profile */
	uint8_t event;
	uint32_t groups;
	const uint32_t *group; /* per row: below `groups`, or ID_NONE: no group */
	const bool *outside;   /* per row: not in the base; NULL: all rows are in the base */
};

struct confidence {
	uint64_t samples;
	double share, low, high; /* 0 to 1; a base without samples gives 0, 0, 1 */
	double variance;         /* of the share */
};

/* Fills `out`, one entry per group; returns the number of samples in the base. */
uint64_t confidence_intervals(const struct confidence_input *in, struct confidence *out);

struct confidence_step {
	uint32_t group;
	double clock, witness; /* shares measured by each of the two clocks */
	double low, high;      /* 95 % interval of `witness` */
	double z;              /* their difference in standard errors */
};

/*
 * Compares the shares measured by in->event with the shares measured by a second clock of another
 * period. Groups of 2 % or more whose shares differ significantly (one false alarm in 500
 * recordings, for any number of groups) go to `out`, at most `room`, largest difference first.
 * Returns their number; 0 also if the witness has fewer than 50 samples, which are not enough, or
 * if the profile has no time axis.
 * in->group and in->outside cover the rows of both events.
 */
size_t confidence_steps(const struct confidence_input *in, uint8_t witness,
                        struct confidence_step *out, size_t room);

#endif
