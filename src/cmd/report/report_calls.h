/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_calls: prints the report on call paths.
 *
 * `assay report FILE` prints it for files that hold call paths, `assay calls` when its command has
 * ended. Prints to stdout; messages to stderr. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_CALLS_H
#define ASSAY_CMD_REPORT_REPORT_CALLS_H

#include "cmd/report/report_options.h"
#include "profile/calls/call_paths.h"
#include "symbol/symbolizer.h"

/* The exit status; errors are printed. The model must be closed. `symbols` may be NULL. */
int report_calls_print(const struct call_paths *c, struct symbolizer *symbols,
                       const struct report_request *q, const struct style_options *style,
                       bool raw_names);

/* The same on the screen (--tui). */
int report_calls_show(const struct call_paths *c, struct symbolizer *symbols,
                      const struct report_request *q, const struct style_options *style,
                      bool raw_names);

#endif
