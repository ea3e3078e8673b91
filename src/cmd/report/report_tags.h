/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_tags: prints the report on a trace of event tags, with its options. `assay report DIR`
 * calls it, and `assay tags` after its command has exited. Prints to stdout; messages to stderr.
 * One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_TAGS_H
#define ASSAY_CMD_REPORT_REPORT_TAGS_H

#include "cmd/report/report_options.h"

struct report_tags_options {
	const char *function, *groups, *unit; /* NULL: not requested */
	struct option_list names;             /* names files for tags without a name in the trace */
	bool total, raw_names;
};

/* The options of `assay report` for traces of event tags only, without --no-demangle. */
extern const struct option report_tags_own_table[];
/* For a command that has recorded a trace: the same options without --names. */
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
/* The same for a request without rules, after a recording. */
int report_tags_recorded(const char *path, const struct report_request *q,
                         const struct report_tags_options *own, const struct style_options *style);

/* The report on the screen (--tui). */
int report_tags_show(const char *path, const struct report_request *q,
                     const struct report_tags_options *own, const struct style_options *style);

#endif
