/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_table: the counts of each row in each run, and blocks of them for diff_fit.h.
 *
 * A count is in samples, or in ns if times are exact. diff_table_init() / diff_table_done(); the
 * runs must outlive it. Uses: base.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_TABLE_H
#define ASSAY_VIEW_DIFF_DIFF_TABLE_H

#include "view/diff/diff_fit.h"
#include "view/diff/diff_runs.h"

struct diff_table {
	const struct diff_runs *runs;
	size_t width;         /* runs */
	struct diff_sum *own; /* by row and run; the last row has the pooled rows */
	double *run_grain;    /* ns of a count, by run */
	uint32_t *side_runs[DIFF_SIDES];
	bool paired;
};

void diff_table_init(struct diff_table *t, const struct diff_runs *runs);
void diff_table_done(struct diff_table *t);

/* Adds a row to the pooled rows. */
void diff_table_pool(struct diff_table *t, uint32_t row);

/* Sums of one row or path: an item for each run. */
struct diff_counts {
	const struct diff_sum *sums;
	double samples[DIFF_SIDES], cpu_ns[DIFF_SIDES];
	double value[DIFF_SIDES]; /* CPU ns per unit of work */
	double mean;              /* count of a run */
	struct diff_block *blocks;
	size_t count;
	double own;     /* dispersion between runs, with these degrees of freedom */
	double degrees; /* 0: each side has one run */
};

/* `sums`: of all runs. The caller frees `blocks`. */
struct diff_counts diff_table_counts(const struct diff_table *t, const struct diff_sum *sums);

/* The dispersion of a row's samples within its two runs, between windows of time; 0: not known. */
double diff_table_window_dispersion(const struct diff_table *t, uint32_t row,
                                    const struct diff_counts *c);

#endif
