/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confidence: how sure a share of samples is.
 *
 * Each row of a profile belongs to a group (a function, a process, ...) or to
 * none; a group's share is its samples over those of all rows in the base. The
 * interval holds the program's share with 95 % confidence, as far as this run
 * alone shows how it varies: where it works in bursts of chance the interval
 * is as wide as their scatter, and what no burst of this run showed, or what
 * another machine or input would change, it does not know.
 *
 * Samples are periodic, not binomial, so how often hits of a group come in
 * runs matters. In the sequence of one CPU a cycle goes from the start of one
 * run of hits to the start of the next (short gaps, as an interrupt leaves
 * them, do not part runs); the scatter of hits over the length of
 * cycles gives the variance: that of coin tosses where samples are
 * independent, more where a program works in bursts, less where long phases
 * take turns; it is not taken for less than what the T edges of runs cost when
 * each falls anywhere between two ticks, (T/12 + 1/6) samples squared. Only
 * where blocks of many cycles scatter clearly less than single ones (phases
 * that keep time: the errors of cycles cancel) do the blocks count. With five
 * cycles or fewer there are only the edges, and for runs of a single sample,
 * that may have been shorter, one sample squared. CPUs are strata: how work was
 * spread over them is taken as it was. A thread that moves between CPUs would
 * seem bursty on each; where the sum over the CPUs in twenty slices of time is
 * much steadier, that counts. Then Wilson's interval with the number of
 * independent samples that would scatter as much.
 *
 * What it assumes: phases longer than the recording did not happen, and the
 * program is not in step with the timer. Of a program in step, samples look
 * steady and are wrong: confidence_steps() finds it by a second clock.
 * Where sequences were cut (profile.sequences_cut), the rest is taken to scatter
 * as what is there; where they are missing otherwise, samples are independent.
 * Memory is a few hundred bytes a group. Uses: base, profile.
 */
#ifndef ASSAY_VIEW_CONFIDENCE_H
#define ASSAY_VIEW_CONFIDENCE_H

#include "profile/profile.h"

struct confidence_input {
	const struct profile *profile;
	uint8_t event;
	uint32_t groups;
	const uint32_t *group; /* by row: below `groups`, or ID_NONE for none */
	const bool *outside;   /* by row: not in the base either; NULL: all are in */
};

struct confidence {
	uint64_t samples;
	double share, low, high; /* 0 to 1; a base of no samples gives 0, 0, 1 */
	double variance;         /* of the share */
};

/* Fills `out` for each group; returns the number of samples in the base. */
uint64_t confidence_intervals(const struct confidence_input *in, struct confidence *out);

struct confidence_step {
	uint32_t group;
	double clock, witness; /* shares by the one and the other */
	double z;              /* their difference in standard errors */
};

/*
 * Compares the shares seen by in->event with those seen by a second clock of
 * another period. Groups of 2 % or more that differ beyond chance (a false
 * alarm in 500 recordings, however many groups) go to `out`, at most `room`,
 * largest difference first. Returns how many; 0 also with fewer than 50
 * samples of the witness, which tell nothing. in->group and in->outside speak
 * of the rows of both events.
 */
size_t confidence_steps(const struct confidence_input *in, uint8_t witness,
                        struct confidence_step *out, size_t room);

#endif
