/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_samples: prints the report on samples, or writes its page. Prints to stdout; messages to
 * stderr. One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_SAMPLES_H
#define ASSAY_CMD_REPORT_REPORT_SAMPLES_H

#include "cmd/report/report_options.h"
#include "cmd/report/report_page.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

/* The exit status; errors are printed. `code`: of the functions in a page. */
int report_samples_print(const struct profile *p, struct symbolizer *symbols,
                         const struct report_request *q, const struct style_options *style,
                         enum report_page_code_of code);

#endif
