/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_report: the contents of a report on call paths, for any output.
 *
 * Plain data: the model, the names and the options. An output makes the rows of one process at a
 * time (call_rows.h, call_tree.h) and frees them before the next, so only one process's ids are in
 * memory. The caller owns everything. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_REPORT_H
#define ASSAY_VIEW_CALLS_CALL_REPORT_H

#include "base/error.h"
#include "view/calls/call_rows.h"

struct call_report {
	const struct call_paths *paths;
	struct call_names *names;

	struct filter_list comm, pid; /* selected processes; empty: all */
	struct filter_list symbols;   /* selected rows; empty: all */
	enum call_order order;
	bool functions; /* sums per function */
	bool tree;
	const char *callers, *callees; /* tables of this function's callers, callees; NULL: none */
	double limit;                  /* minimum share of a row; < 0: the output's default */
	size_t lines;                  /* per table; 0: all */
};

/* -EINVAL if a pid is not a number, -ENOENT if no function has the name in `callers` or
 * `callees`. */
int call_report_check(const struct call_report *r, struct error *err);

bool call_report_selects(const struct call_report *r, const struct call_process *p);

struct call_rows *call_report_rows(const struct call_report *r, const struct call_process *p,
                                   enum call_rows_kind kind);

/* Lists the functions of this process that are counted but not timed, once each. The caller calls
 * vec_done(). */
typedef VEC(uint32_t) call_function_list;
void call_report_counted(const struct call_report *r, const struct call_process *p,
                         call_function_list *list);

#endif
