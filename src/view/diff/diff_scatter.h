/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_scatter: how much counts of the rows of one class scatter between runs.
 *
 * The variance of a count with the mean m is m x dispersion, and the typical dispersion of a class
 * is floor + spread x m. `floor` is the part of chance. `spread` is the square of the relative
 * change from run to run. Single rows scatter around it as an inverse chi-square value of `degrees`
 * does. The estimates are robust: rows that really changed, or that scatter far more than others,
 * have little effect. Pure functions. Uses: base.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_SCATTER_H
#define ASSAY_VIEW_DIFF_DIFF_SCATTER_H

#include <stddef.h>

struct diff_scatter {
	double floor; /* 1 for samples, 0 for exact times */
	double spread;
	double degrees; /* how well the class predicts a row */
};

/* One row: its dispersion between runs, with `degrees`, and the mean count of a run. */
struct diff_scattered {
	double mean, dispersion;
};

struct diff_scatter diff_scatter_of_runs(const struct diff_scattered *rows, size_t count,
                                         double degrees, double floor);

/* One run a side: from the ratios of the rows, most of which did not change. */
struct diff_ratio {
	double ratio_log;
	double variance; /* by chance */
};

/* A class with fewer rows gets the scatter of all rows. */
#define DIFF_PAIR_ROWS_FEW 10

struct diff_scatter diff_scatter_of_ratios(const struct diff_ratio *rows, size_t count,
                                           double floor);

/*
 * The least spread of a kernel function between two runs of the same program, if no other runs show
 * it: 1 for functions that clear and copy pages, else 0. They take up to 60 times as long in some
 * runs, by the free memory of the moment.
 */
double diff_scatter_of_name(const char *function);

/* The dispersion of a row and its degrees of freedom, from its own dispersion and the dispersion of
 * its class. */
double diff_scatter_shrink(const struct diff_scatter *s, double mean, double own, double degrees,
                           double *all_degrees);

#endif
