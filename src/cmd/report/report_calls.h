/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_calls: the report on call paths: the options that it has, and the way
 * from a model to what is printed.
 *
 * `assay report FILE` gives it for files that hold call paths, `assay calls`
 * when its command has ended. Prints to stdout; messages to stderr. Uses:
 * everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_CALLS_H
#define ASSAY_CMD_REPORT_REPORT_CALLS_H

#include "cmd/cli/command.h"
#include "cmd/cli/style.h"
#include "profile/calls/call_paths.h"
#include "symbol/symbolizer.h"
#include "view/filter.h"

struct report_calls_options {
	bool by_name, by_first, by_calls, by_time; /* none: by_time */
	bool functions, full_paths, tree, wide, json, nested;
	const char *callers, *callees;
	double limit; /* percent; < 0: the output's choice */
	uint64_t lines;
	struct style_options style;
	/* No options of these tables: the command fills them in, or leaves them empty. */
	struct filter_list comm, pid, symbols;
	bool raw_names;
};

/* What `assay report` has for call paths alone, letters included. */
extern const struct option report_calls_letter_table[];

/* All of them, for a command that prints this report; letters: -f, -g, -n. */
extern const struct option report_calls_option_table[];
void report_calls_defaults(struct report_calls_options *o);

/* The first option given that is of call paths alone, as typed: "-f"; NULL: none. */
const char *report_calls_given(const struct report_calls_options *o);

/* The exit status; what went wrong is told. The model must be closed. `symbols` may be NULL. */
int report_calls_print(const struct call_paths *c, struct symbolizer *symbols,
                       const struct report_calls_options *o);

#endif
