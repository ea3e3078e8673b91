/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_document: a report on call paths as a document (view/document/document.h): an overview if
 * there are several processes, then one part per process.
 *
 * A part is made when an output asks for it, so only one process's ids are in memory.
 * call_document_new() / call_document_free(); the report must outlive it. One thread. Uses: base,
 * profile, view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_DOCUMENT_H
#define ASSAY_VIEW_CALLS_CALL_DOCUMENT_H

#include "view/calls/call_report.h"
#include "view/document/document.h"
#include "view/symbolized/symbolized_report.h"

struct call_document {
	struct document document;
	const struct call_report *report;
	VEC(const struct call_process *) processes; /* the selected processes */
	/* The table by the keys of the request: the paths, the words of --symbol, and the sums. */
	struct symbolized_profile paths;
	column_names words;
	struct symbolized_report *sums; /* NULL: no such table */
};

/* NULL after an error. -ENOENT: a word of --without is no function or group. Other errors: the
 * paths lack data that the request needs. */
struct call_document *call_document_new(const struct call_report *report, struct error *err);
void call_document_free(struct call_document *d);

#endif
