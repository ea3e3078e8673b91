/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_samples: prints the report on samples, or writes its page. Prints to stdout; messages to
 * stderr. One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_SAMPLES_H
#define ASSAY_CMD_REPORT_REPORT_SAMPLES_H

#include "cmd/report/report_options.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

/* The exit status; errors are printed. `source`: a page has the text of source lines. */
int report_samples_print(const struct profile *p, struct symbolizer *symbols,
                         const struct report_request *q, const struct style_options *style,
                         bool source);

#endif
