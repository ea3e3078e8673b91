/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the report on a recording of any kind, as its options say: for `assay report`, and for a
 * command that shows its page in another way (`report.style.page_data`).
 *
 * Zero the options, call report_defaults(), let the parser fill them, and call report_run().
 * Messages to stderr. One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_H
#define ASSAY_CMD_REPORT_REPORT_H

#include "cmd/load/filters.h"
#include "cmd/load/load.h"
#include "cmd/report/report_options.h"
#include "cmd/report/report_tags.h"

struct report_command_options {
	struct load_options load;
	struct filter_options filters;
	struct option_list function;
	const char *event, *percentage, *latency;
	const char *process_limit;
	bool no_idle, instances, full, brief, tui, no_pager, no_source;
	/* Not an option: the page will be made again soon. It has no code of functions, and no
	 * debug files are fetched. */
	bool interim;
	struct report_options report;
	struct report_tags_options tags; /* of traces of event tags alone */
};

/* Options of the struct above that `assay view` has, too: the input, and the part that is shown. */
extern const struct option report_read_table[];
extern const struct option report_select_table[];

void report_defaults(struct report_command_options *o);

/* The exit status; errors are printed. `argv`: the files. */
int report_run(struct report_command_options *o, int argc, char **argv);

#endif
