/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system_call_report: the system calls of a recording as rows: one for each call and file.
 *
 * A row joins the calls of all selected processes that have the same name and the same file. Files
 * are known if the recording has the names of descriptors; otherwise a row is of the descriptor's
 * number. system_call_report_new() takes a profile that was read with system calls, and which must
 * outlive the report; system_call_report_free(). Times are ns. One thread. Uses:
 * base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_SYSTEM_CALL_REPORT_H
#define ASSAY_VIEW_WAITS_SYSTEM_CALL_REPORT_H

#include "base/memory/intern.h"
#include "profile/profile.h"
#include "view/document/document.h"
#include "view/filter.h"

struct system_call_line {
	uint32_t call, file; /* in texts; file 0: none */
	uint64_t count, failed;
	uint64_t ns, min_ns, max_ns;   /* sums of all, and the extremes */
	double p50_ns, p90_ns, p99_ns; /* NAN: too few calls */
	struct call_times times;
	VEC(struct system_call_error) errors;
};

struct system_call_report {
	const struct profile *profile;
	struct intern texts;
	VEC(struct system_call_line) lines;
	struct id_table index;      /* of lines, by call and file */
	uint64_t count, failed, ns; /* of all lines */
	uint64_t processes;         /* with at least one call */
	bool unnamed_calls;         /* calls of another architecture have numbers only */
};

/*
 * Of the processes that the filter or, without it, the recording selects (wait_select.h; `all`: of
 * all). `calls`: the names of the calls that are shown; empty: all. -EINVAL: a pid is no number.
 */
int system_call_report_new(struct system_call_report **out, const struct profile *p,
                           const struct filter *f, bool all, const struct filter_list *calls,
                           struct error *err);
void system_call_report_free(struct system_call_report *r);

/* Sections of the report: facts, the table, with a single call its histogram, notes. */
void system_call_document(struct document *d, const struct system_call_report *r,
                          const struct document_reader *reader, const struct row_request *q);

#endif
