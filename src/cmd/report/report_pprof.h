/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_pprof: the report on a profile in pprof's form, of any producer: the way from a file to
 * what is printed, with the options of `assay report`.
 *
 * Prints to stdout; messages to stderr. One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_PPROF_H
#define ASSAY_CMD_REPORT_REPORT_PPROF_H

#include "cmd/cli/style.h"
#include "view/samples/report.h"

struct report_pprof_options {
	struct report_options report; /* event NULL: the producer's choice */
	struct style_options style;
	bool wide, json, markdown, nested, no_inlines;
};

/* The exit status; what went wrong is told. */
int report_pprof_print(const char *path, const struct report_pprof_options *o);

#endif
