/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_output: writes counted calls to a file, prints a report of them, or both.
 *
 * The command's struct holds a calls_output_options at the offset of the
 * INCLUDE. Messages go to stderr, the report to stdout. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_CALLS_OUTPUT_H
#define ASSAY_CMD_REPORT_CALLS_OUTPUT_H

#include "cmd/load/load.h"
#include "cmd/report/report_options.h"
#include "launch/calls/calls_tables.h"

#define CALLS_FILE LOAD_DEFAULT_CALLS /* the default recording */

struct calls_output_options {
	struct report_options report;
};

/* The options of the report. */
extern const struct option calls_output_option_table[];
void calls_output_defaults(struct calls_output_options *o);

/* Checks for options that exclude each other. 0, or 2 after an error message. */
int calls_output_check(const char *command, const struct calls_output_options *o);

/*
 * Closes the model, names its functions, writes it to `file` (NULL: nowhere) and prints the report
 * if `print`. Reports the written file unless `quiet`. Returns the exit status. `command` is for
 * messages: "calls".
 */
struct calls_output {
	const char *command;
	const char *file;
	bool print, quiet;
	bool written;                      /* the file was written */
	const struct program_sizes *sizes; /* NULL: none */
};

int calls_output(struct call_paths *paths, struct calls_output *to,
                 const struct calls_output_options *options);

/* Prints notes on omitted data to stderr. */
void calls_output_notes(const calls_notes *notes);

#endif
