/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intervals: the time between samples per CPU, to check whether the timer is regular.
 *
 * Each CPU has means, percentiles, the sorted curve, the same without the extremes, a histogram,
 * the number of missing ticks, and the lateness against the timer's grid. Times are in ns.
 * intervals_new() / intervals_free(); the ticks must outlive it. Nothing fails. Uses: base,
 * profile.
 */
#ifndef ASSAY_VIEW_CONFIDENCE_INTERVALS_H
#define ASSAY_VIEW_CONFIDENCE_INTERVALS_H

#include "profile/ledger/ticks.h"
#include "view/document/histogram.h"

#define INTERVALS_CURVE 20
#define INTERVALS_BINS 16
#define INTERVALS_LATE 2         /* medians of the lateness: later samples are delayed ticks */
#define INTERVALS_EXTREMES 0.005 /* fraction left out at each end for the trimmed figures */

#define INTERVALS_PERCENTILES 7
extern const double intervals_percentiles[INTERVALS_PERCENTILES]; /* 1 5 25 50 75 95 99 */

struct intervals_figures {
	uint64_t count; /* number of intervals */
	double mean_ns, deviation_ns;
	double min_ns, max_ns;
	double percentiles_ns[INTERVALS_PERCENTILES];
	double curve_ns[INTERVALS_CURVE + 1]; /* sorted, at 0, 5, ... 100 % */
};

struct intervals_cpu {
	uint32_t recording, cpu;
	uint64_t samples, missing, backwards;
	struct intervals_figures all, trimmed, late; /* late: lateness of samples against the
	                                              * grid */
	double late_limit_ns; /* later samples are delayed ticks; 0: lateness is not known */
	struct histogram_step bins[INTERVALS_BINS]; /* in ns, over the trimmed range; the first and
	                                               the last bin include the values outside; the
	                                               last bin includes its end; marked: the
	                                               interval ends with a delayed tick */
};

struct intervals {
	const char *event;
	uint64_t period_ns; /* expected, 0: unknown */
	bool machine_wide, cut;
	VEC(struct intervals_cpu) cpus;
};

struct intervals *intervals_new(const struct ticks *t);
void intervals_free(struct intervals *v);

#endif
