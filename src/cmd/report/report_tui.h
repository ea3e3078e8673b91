/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_tui: `assay report --tui`: a report of any kind of recording on the screen.
 *
 * Each kind of recording has a function that makes the document of a request; the screen asks for
 * the whole report, for call trees, and for callers and callees of a function. Both functions
 * return the exit status, after a message if it is not 0. One thread. Uses: cmd, tui, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_TUI_H
#define ASSAY_CMD_REPORT_REPORT_TUI_H

#include "cmd/report/report_options.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"
#include "tui/screen_page.h"

struct report_tui_source {
	void *ctx;
	const char *what; /* for the first line: "call paths of assay.calls" */
	int (*make)(void *ctx, const struct report_request *q, struct screen_page_document *made,
	            struct error *err);
};

int report_tui_show(const struct report_tui_source *source, const struct report_request *q,
                    const struct style_options *style);

/* Sampled profiles: these also have annotated functions. */
int report_tui_samples(const struct profile *profile, struct symbolizer *symbols,
                       const struct report_request *q, const struct style_options *style);

#endif
