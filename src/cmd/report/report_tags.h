/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_tags: the report on a trace of event tags: the options that it has, and
 * the way from a directory to what is printed.
 *
 * `assay report DIR` gives it for such traces, `assay tags` when its command has
 * ended. Prints to stdout; messages to stderr. One thread calls it. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_TAGS_H
#define ASSAY_CMD_REPORT_REPORT_TAGS_H

#include "cmd/report/report_options.h"

struct report_tags_options {
	const char *function, *groups, *unit; /* NULL: not asked for */
	struct option_list names; /* files with names for tags that the trace has none for */
	bool total, raw_names;
};

/* What `assay report` has for traces of event tags alone: all but --no-demangle. */
extern const struct option report_tags_own_table[];
/* For a command that has recorded a trace: all but --names. */
extern const struct option report_tags_option_table[];

/*
 * Checks the options before there is a trace, in the name of `command`, and makes the request. The
 * exit status; an error is printed.
 */
int report_tags_check(const char *command, const struct report_options *o,
                      const struct report_tags_options *own, struct report_request *q);

/* The exit status; errors are printed. `path`: a CTF trace (format/ctf/ctf.h). */
int report_tags_print(const char *path, const struct report_request *q,
                      const struct report_tags_options *own, const struct style_options *style);

#endif
