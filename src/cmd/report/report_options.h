/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_options: the options of all commands that print a report, and their conversion to a
 * request. Uses: cmd/cli, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_OPTIONS_H
#define ASSAY_CMD_REPORT_REPORT_OPTIONS_H

#include "cmd/cli/command.h"
#include "cmd/cli/style.h"
#include "output/html/page.h"
#include "view/request.h"

#define SORT_KEYS                                                                                  \
	"process,instance,thread,cpu,image,function,line,address,mode,region,cgroup,group,"        \
	"service,container,pod"

struct report_options {
	struct option_list sort, by, without;
	bool by_name, by_first, by_calls, by_time; /* short options for --by */
	bool fields;    /* words of --sort may be fields: report_fields.h completes the request */
	bool functions; /* short option for --sort function */
	bool tree, inverted, children, no_children, wide, json, nested, full_paths;
	const char *callers, *callees;
	double limit; /* percent; < 0: the default of the reader */
	uint64_t lines;
	struct style_options style;
};

/* All options except those of report_path_option_table. */
extern const struct option report_option_table[];
/* --full-paths and the short forms of --by, without letters. */
extern const struct option report_path_option_table[];
/* The same with letters, as 'assay report' has them. */
extern const struct option report_letter_table[];
void report_options_defaults(struct report_options *o);

/*
 * Adds the options to a request. -EINVAL: they exclude each other, or a key is not known. Words of
 * --sort that are not keys are columns, as if they were given to --by, if none of them is a key.
 */
int report_options_request(const struct report_options *o, struct report_request *q,
                           struct error *err);

/* Sets the error of a word of --sort that is no key. */
int report_options_unknown(const char *word, struct error *err);

/* The command whose messages are printed: `assay view` makes reports, too. */
const char *report_command(const struct style_options *style);
/* Prints an error in its name. Returns `status`. */
int report_fail(const struct style_options *style, int status, const struct error *err);

/* Prints the document of the page, or writes the page (--html; report_page.h). The exit status: 2
 * if no table has a column of --by, with a message. */
int report_print(const struct page *page, const struct report_request *q,
                 const struct style_options *style);

#endif
