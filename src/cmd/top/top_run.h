/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_run: the session under `assay top`: sums of the last seconds, on the screen or as reports.
 *
 * The session's hooks handle keys and refresh the screen, so sampling, symbols and drawing are one
 * thread. top_run() returns the exit status, after a message if it is not 0. Uses: cmd, session,
 * tui, view.
 */
#ifndef ASSAY_CMD_TOP_TOP_RUN_H
#define ASSAY_CMD_TOP_TOP_RUN_H

#include "cmd/cli/style.h"
#include "session/session_options.h"
#include "view/request.h"

struct top_plan {
	struct session_options *session;
	struct report_request request; /* what the first page and the reports show */
	struct style_options style;
	uint64_t delay_ns;  /* from one report to the next */
	uint64_t span_ns;   /* the time that is shown; 0: since the start */
	uint64_t intervals; /* of the batch mode; 0: until a signal comes */
	bool batch;
	const char *output; /* file for the records; NULL: none */
};

int top_run(const struct top_plan *plan);

#endif
