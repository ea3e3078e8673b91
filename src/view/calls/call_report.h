/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_report: the input of a report on call paths: the model, the names and the request.
 *
 * Plain data: the model, the names and the request; call_document.h makes the contents. The caller
 * owns everything. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_REPORT_H
#define ASSAY_VIEW_CALLS_CALL_REPORT_H

#include "base/error.h"
#include "view/calls/call_names.h"
#include "view/request.h"

struct call_report {
	const struct call_paths *paths;
	struct call_names *names;
	struct symbolizer *symbols; /* for source lines; NULL: none */
	struct report_request request;
};

/* -EINVAL if a pid is not a number, -ENOENT if no function has the name in `callers` or
 * `callees`. */
int call_report_check(const struct call_report *r, struct error *err);

/* The request has keys that the tables of one process do not have, or removes functions: one table
 * or tree has all processes. */
bool call_report_has_keys(const struct call_report *r);

bool call_report_selects(const struct call_report *r, const struct call_process *p);

/* Per function: 1 if -S and --dso select it. The caller frees it; NULL: all are selected. */
uint8_t *call_report_chosen(const struct call_report *r);

/* Lists the functions of this process that are counted but not timed, once each. The caller calls
 * vec_done(). */
typedef VEC(uint32_t) call_function_list;
void call_report_counted(const struct call_report *r, const struct call_process *p,
                         call_function_list *list);

#endif
