/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_report: the report on named call paths (a profile that another tool took), as plain data
 * for any output.
 *
 * named_report_new() selects, sums and accounts; what is asked for comes as for samples
 * (report.h): of the filter, cpu and cgroup hold nothing, and keys are those that such paths
 * have. Values are the paths' main ones, whole numbers in their own unit, and may be below
 * nothing: the tables of one that is the difference of two have both. Sums that do not fit stay
 * at the range's end, as named_add() has it. `n` must outlive it. named_report_free(). One
 * thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_NAMED_REPORT_H
#define ASSAY_VIEW_NAMED_REPORT_H

#include "view/named_sums.h"
#include "view/named_tree.h"
#include "view/report.h"

/* Do the figures add up, and with what the file says of its taking. */
struct named_books {
	int64_t all, selected;
	int64_t rows;        /* what the functions' own add up to: `selected` */
	uint64_t below_rows; /* call paths below nothing */
	int64_t below;
	/* Times alone: the value over the duration; NAN: it is no time, or there is no duration. */
	double cpus;
	/* The period is one of the main value, and there are counts: count x period; else false. */
	bool timed;
	int64_t samples, expected;
};

struct named_report {
	const struct named_paths *n;
	struct report_options options;
	struct named_selection selection;
	struct named_books books;
	int64_t totals[NAMED_VALUES]; /* of all rows */
	uint64_t images_told;         /* that have a build-id */
	bool has_lines;
	struct named_sums *processes; /* NULL: the file tells of one alone */
	struct named_sums *functions; /* image, function */
	struct named_sums *rows;      /* by options.keys, or NULL */
	struct named_tree *tree;      /* or NULL */
	warning_list missing;         /* sentences: what the file does not tell */
};

/*
 * -EINVAL where keys or numbers make no sense, -ENOENT where the filter asks for what no row
 * tells, -EFBIG of a tree with more nodes than NAMED_NODES_MAX. `inlines`: functions that were
 * inlined stand for themselves.
 */
int named_report_new(struct named_report **out, const struct named_paths *n,
                     const struct report_options *options, bool inlines, struct error *err);
void named_report_free(struct named_report *r);

const struct named_value *named_report_value(const struct named_report *r); /* the main one */
/* Nanoseconds in one of its unit; 0: it is no time. */
double named_value_ns(const struct named_value *v);

#endif
