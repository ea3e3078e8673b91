/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_pprof: prints the report on a pprof profile of any producer, with the options of `assay
 * report`.
 *
 * Prints to stdout; messages to stderr. One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_PPROF_H
#define ASSAY_CMD_REPORT_REPORT_PPROF_H

#include "cmd/report/report_options.h"

/* The exit status; errors are printed. `inlines`: inlined functions are counted separately. */
int report_pprof_print(const char *path, const struct report_request *q,
                       const struct style_options *style, bool inlines);

/* The same on the screen (--tui). */
int report_pprof_show(const char *path, const struct report_request *q,
                      const struct style_options *style, bool inlines);

#endif
