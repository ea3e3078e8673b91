/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff: which functions of two lists of runs differ, and by how much.
 *
 * The unit is the run. Values are own CPU time per unit of work; shares are never tested, since a
 * function that grows shrinks the shares of all others. docs/MEASURING.md explains the procedure,
 * docs/adr/0092 its constants. diff_new() is a pure function of the tables, which must outlive the
 * result. diff_free(). Nothing fails. Uses: base.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_H
#define ASSAY_VIEW_DIFF_DIFF_H

#include "view/diff/diff_runs.h"

struct diff_options {
	double least_change; /* changes up to this ratio - 1 do not count; 0: 0.02 */
	double rate;         /* rate of false discoveries; 0: 0.05 */
};

enum diff_verdict {
	DIFF_SAME,    /* no change is shown */
	DIFF_CHANGED, /* more or less CPU time */
	DIFF_NEW,     /* no samples in A */
	DIFF_GONE,    /* no samples in B */
	DIFF_POOLED,  /* too few samples: counted in the rest */
};

/* How much the runs can prove. */
enum diff_strength {
	DIFF_STRONG,     /* three runs or more on each side */
	DIFF_INDICATION, /* two runs on a side */
	DIFF_RECORDINGS, /* one run on a side: the recordings differ; the programs may be equal */
};

/* One comparison. Ratios are after / before; the natural logarithm is `_log`. */
struct diff_estimate {
	double count[DIFF_SIDES]; /* samples, all runs */
	double before, after;     /* CPU ns per unit of work */
	double ratio, low,
	        high; /* low, high: 95 % interval, which is adjusted for the selection if the change
	                 is listed. ratio: 0 or infinite if a side has no samples */
	double dispersion;         /* variance of a count / its mean */
	double error_log, degrees; /* standard error, and its degrees of freedom */
	double p, q;               /* p and q of a change beyond least_change; NAN: not tested */
	uint8_t verdict;           /* enum diff_verdict */
};

struct diff_change {
	uint32_t row; /* ID_NONE: the pooled rows */
	struct diff_estimate e;
	double beside; /* ratio / the median ratio of all rows */
	/* The row of the nearest caller whose total did not change; ID_NONE: none. */
	uint32_t moved;
	bool moved_in_image; /* no call paths: the changes of its file cancel each other */
};

/* A call path inside a changed function. */
struct diff_path_change {
	uint32_t path, row; /* row: of the function in `changes` */
	struct diff_estimate e;
};

struct diff {
	const struct diff_runs *runs;
	struct diff_options options;
	uint8_t strength; /* enum diff_strength */
	bool untested;    /* waits with one run on a side: how much they scatter between runs is
	                     unknown */
	bool paired;      /* blocks of one run of each side */
	size_t tested, listed, pooled; /* rows; `pooled` are tested together, as one */
	struct diff_estimate whole;
	double smallest_change; /* ratio - 1 of a change that 80 % of comparisons would detect, in a
	                           row with the median dispersion and 1 % of the time; NAN: none */
	double smallest_share;  /* that share: 0.01 */
	double smallest_whole;  /* the same, for the whole */
	double median_ratio;
	double class_dispersion[DIFF_CLASSES]; /* NAN: no rows */
	VEC(struct diff_change) changes;       /* all rows; by |change of time|, largest first */
	VEC(struct diff_path_change) paths;
};

struct diff *diff_new(const struct diff_runs *runs, const struct diff_options *options);
void diff_free(struct diff *d);

/* Whether the row's time moved to or from other functions. */
static inline bool diff_is_moved(const struct diff_change *c)
{
	return c->moved != ID_NONE || c->moved_in_image;
}

/* Whether the row is listed as a change (changed, new, gone). */
bool diff_is_change(const struct diff_estimate *e);

#endif
