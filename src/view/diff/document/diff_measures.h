/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_measures: what the runs of both sides used: wall time, CPU time, memory, page faults,
 * context switches.
 *
 * The table has the mean and the standard deviation of each side. With two runs or more on each
 * side it has the change with a 95 % interval: Welch's interval of the difference of the means, or,
 * for runs in pairs, the t interval of their differences, in parts of the mean of A. The interval
 * of a measure is for this measure only; `changed` is corrected for the number of measures. There
 * is no table if a run has no measures. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_DIFF_DOCUMENT_DIFF_MEASURES_H
#define ASSAY_VIEW_DIFF_DOCUMENT_DIFF_MEASURES_H

#include "view/diff/diff.h"
#include "view/document/document.h"

struct diff_measure_change {
	double mean[DIFF_SIDES], deviation[DIFF_SIDES]; /* deviation: NAN: one run */
	double change, low, high;                       /* ratio - 1; NAN: unknown */
	double p;     /* probability of such values without a change; NAN: not tested */
	bool changed; /* at 5 % for all measures together (Holm) */
};

/* Whether each run has measures. */
bool diff_runs_measured(const struct diff_runs *runs);

/* False: a run has no measures. */
bool diff_measures(const struct diff *d, struct diff_measure_change out[DIFF_MEASURES]);

/* The measure with this word ("wall"), name ("wall time") or key of JSON ("wall_ns"), in which a
 * space, '-' and '_' are the same; DIFF_MEASURES: none. */
enum diff_measure diff_measure_of(const char *text);
const char *diff_measure_name(enum diff_measure measure);
const char *diff_measure_word(enum diff_measure measure);

/* Appends the names of the measures that changed; returns whether any was tested. */
bool diff_measures_changed(const struct diff *d, struct buf *out);

void diff_measures_table(struct document *out, const struct diff *d);

#endif
