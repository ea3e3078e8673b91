/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_report: what a report on call paths is about, for any output.
 *
 * Plain data: the model, the names, and what was asked for. Outputs make the
 * rows of one process after the other (call_rows.h, call_tree.h) and let them
 * go, so that no more than one process's ids are held at a time. Uses: base,
 * profile, view.
 */
#ifndef ASSAY_VIEW_CALL_REPORT_H
#define ASSAY_VIEW_CALL_REPORT_H

#include "base/error.h"
#include "view/call_rows.h"

struct call_report {
	const struct call_paths *paths;
	struct call_names *names;

	struct filter_list comm, pid; /* processes; none: all */
	struct filter_list symbols;   /* rows; none: all */
	enum call_order order;
	bool functions; /* sums by function */
	bool tree;
	const char *callers, *callees; /* of this function; NULL: not asked for */
	double limit;                  /* a share; < 0: the output's choice */
	size_t lines;                  /* a table; 0: all */
};

/* -EINVAL where a pid is no number, -ENOENT where nothing has the name of callers or callees. */
int call_report_check(const struct call_report *r, struct error *err);

bool call_report_selects(const struct call_report *r, const struct call_process *p);

struct call_rows *call_report_rows(const struct call_report *r, const struct call_process *p,
                                   enum call_rows_kind kind);

/* Functions of this process that are counted and not timed, once each. To be vec_done(). */
typedef VEC(uint32_t) call_function_list;
void call_report_counted(const struct call_report *r, const struct call_process *p,
                         call_function_list *list);

#endif
