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

#include "cmd/cli/command.h"
#include "cmd/cli/style.h"

struct report_tags_options {
	const char *function, *groups, *unit; /* NULL: not asked for */
	struct option_list names; /* files with names for tags that the trace has none for */
	bool total;
	/* Options of these tables where a command has no others of the name; or it fills them in.
	 */
	struct option_list order; /* words of TAG_ORDERS; none: net */
	uint64_t lines;           /* 0: all */
	double limit;             /* percent; < 0: none */
	bool json, nested, markdown, tree, raw_names;
	struct style_options style;
};

/* What `assay report` has for traces of event tags alone. */
extern const struct option report_tags_own_table[];

/* All of them, for a command that prints this report; letters: -s, -n. */
extern const struct option report_tags_option_table[];
void report_tags_defaults(struct report_tags_options *o);

/* The first option given that is of event tags alone, as typed; NULL: none. */
const char *report_tags_given(const struct report_tags_options *o);

/* The word is an order of this report: "net". */
bool report_tags_is_order(const char *word);

/*
 * Whether the options can be followed, told before there is a trace, in the name of `command`: 0,
 * or the exit status.
 */
int report_tags_check(const char *command, const struct report_tags_options *o);

/* The exit status; what went wrong is told. `path`: a CTF trace (format/ctf/ctf.h). */
int report_tags_print(const char *path, const struct report_tags_options *o);

#endif
