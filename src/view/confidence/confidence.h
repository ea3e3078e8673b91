/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confidence: confidence intervals for shares of samples.
 *
 * Each row of a profile belongs to one group (a function, a process, ...) or to none. A group's
 * share is its samples divided by the samples of all rows in the base. The interval contains, with
 * 95 % confidence, the share that the group had in the time of this run. It is about this run
 * alone: it says how exactly the samples measure it, and not how another run would differ. So equal
 * recordings of a program have intervals of nearly the same width.
 *
 * Samples are periodic, not binomial. Work that lasts long is measured better than by independent
 * samples: only the moments of its beginning and its end are uncertain, each by a twelfth of a
 * sample squared. Work that is shorter than the period is measured as by independent samples. The
 * order of the samples shows which: the number of pairs of samples at a distance of 1 to 4, one of
 * which is a hit, grows in proportion to the distance for long work, and is the same at each
 * distance for short work. A sum of both is fitted to these numbers: a part of independent samples,
 * and a part whose correlation falls by a factor r from sample to sample. The latter has the
 * variance 1 + 2 / (1/r - 1) + 2 / ln r of independent samples (Cochran, Sampling Techniques, 8.6;
 * Wolter, Introduction to Variance Estimation, estimator 8 of systematic samples). The number of
 * runs of one sample is raised by 0.7 of its standard error: of few samples, an interval that is
 * too narrow is worse. Each sequence of samples (sample_order.h) begins and ends at a moment that
 * is known to a part of a period. The result is Wilson's interval for the number of independent
 * samples that has the same variance; it is never wider than that of as many independent samples
 * and the ends.
 *
 * Assumption: the program is not in step with the timer. Samples of such a program look steady and
 * are wrong: confidence_compare() detects it with a second clock. Where sample_order.h does not
 * know the order of samples, they are assumed to be independent, and so are all samples of a
 * profile without a time axis. Memory is about a hundred bytes per group. Nothing fails. Uses:
 * base, profile.
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
	/* Probability that only one of two samples is a hit, of a sample of another timer and the
	 * nearest sample, as the order lets expect. */
	double near;
};

/* Fills `out`, one entry per group; returns the number of samples in the base. */
uint64_t confidence_intervals(const struct confidence_input *in, struct confidence *out);

struct confidence_step {
	double witness;   /* the share by the second clock */
	double low, high; /* its 95 % interval */
	/*
	 * Probabilities that chance alone gives so large a difference of the shares, and that it
	 * gives an order of samples that fits so little: where the clock's samples show long runs
	 * of hits, the samples of the second clock do not.
	 */
	double shares, order;
};

/*
 * Compares `clock`, the intervals of in->event, with the shares by a second clock of another
 * period; fills `out`, one entry per group. False, and nothing is filled: the second clock has
 * fewer than 10 samples, or the profile has no time axis. in->group and in->outside cover the rows
 * of both events.
 */
bool confidence_compare(const struct confidence_input *in, uint8_t witness,
                        const struct confidence *clock, struct confidence_step *out);

#endif
