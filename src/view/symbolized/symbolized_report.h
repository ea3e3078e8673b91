/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_report: the report on named call paths (a profile from another tool), as plain data
 * for any output.
 *
 * symbolized_report_new() selects, sums and accounts. The options are those for samples (report.h),
 * except that cpu and cgroup of the filter are ignored and only keys that such paths have are
 * allowed. Values are the paths' main values: whole numbers in their own unit. They may be
 * negative, as in a profile that is the difference of two profiles. Sums saturate (named_add()).
 * `n` must outlive the report. symbolized_report_free(). One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_REPORT_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_REPORT_H

#include "view/symbolized/symbolized_sums.h"
#include "view/symbolized/symbolized_tree.h"
#include "view/tree/neighbour_tables.h"
#include "view/samples/report.h"

/* Checks whether the figures add up and match the file's metadata. */
struct named_books {
	int64_t all, selected;
	int64_t rows;        /* sum of the functions' self values; must equal `selected` */
	uint64_t below_rows; /* number of call paths with negative values, and their sum */
	int64_t below;
	/* For times only: value / duration; NAN: not a time, or no duration. */
	double cpus;
	/* True if the period is in the unit of the main value and the file has sample counts;
	 * `expected` is then samples x period. */
	bool timed;
	int64_t samples, expected;
};

struct symbolized_report {
	const struct symbolized_profile *n;
	struct report_request options;
	struct named_selection selection;
	struct named_books books;
	int64_t totals[NAMED_VALUES]; /* sum over all rows, per value */
	uint64_t images_told;         /* images that have a build-id */
	bool has_lines;
	struct symbolized_sums *processes; /* NULL: the file has only one process */
	struct symbolized_sums *functions; /* image, function */
	struct symbolized_sums *rows;      /* by options.keys, or NULL */
	struct view_tree *tree;            /* or NULL */
	struct neighbour_tables neighbours;
	bool calls; /* the profile has the values of calls (symbolized.h), and tables show all of
	               them */
	struct named_value_unit { /* prints the main value for readers */
		struct unit unit;
		const struct named_value *value;
	} unit;
	warning_list missing; /* sentences about information that is missing from the
	                       * file */
};

/*
 * -EINVAL if a key or number is invalid, -ENOENT if the filter needs an attribute that no row has,
 * -EFBIG if the tree has more than NAMED_NODES_MAX nodes. `inlines`: inlined functions are counted
 * separately.
 */
int symbolized_report_new(struct symbolized_report **out, const struct symbolized_profile *n,
                          const struct report_request *options, bool inlines, struct error *err);
void symbolized_report_free(struct symbolized_report *r);

const struct named_value *
symbolized_report_value(const struct symbolized_report *r); /* the main value */
/* Nanoseconds per unit of the value; 0: not a time. */
double named_value_ns(const struct named_value *v);
/* The value as JSON has it: a whole number, or a real number if its unit has decimals. */
struct cell named_value_cell(const struct named_value *v, int64_t value);
/* Appends a value with its unit. */
void named_value_text(const struct named_value *v, int64_t value, struct buf *out);

#endif
