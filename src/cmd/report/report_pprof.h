/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_pprof: the report on a profile in pprof's form, of any producer: the way from a file to
 * what is printed, with the options of `assay report`.
 *
 * Prints to stdout; messages to stderr. One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_PPROF_H
#define ASSAY_CMD_REPORT_REPORT_PPROF_H

#include "cmd/report/report_options.h"

/* The exit status; errors are printed. `inlines`: inlined functions are counted separately. */
int report_pprof_print(const char *path, const struct report_request *q,
                       const struct style_options *style, bool inlines);

#endif
