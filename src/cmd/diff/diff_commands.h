/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_commands: `assay diff --run N 'A' 'B'`: runs two commands in turn and records each run.
 *
 * The recordings are in a private temporary directory, or in --keep DIR. diff_commands_run() prints
 * errors and returns the exit status, 0 for none; the files stay until diff_commands_done(), which
 * also accepts a zeroed struct. One thread. Uses: base, cmd/session.
 */
#ifndef ASSAY_CMD_DIFF_DIFF_COMMANDS_H
#define ASSAY_CMD_DIFF_DIFF_COMMANDS_H

#include "base/memory/vec.h"
#include "cmd/cli/option.h"
#include "cmd/diff/diff_load.h"
#include "cmd/session/record_options.h"
#include "cmd/session/run_directory.h"

struct diff_command_runs_options {
	uint64_t run; /* runs of each command; OPTION_NO_COUNT: files are compared */
	uint64_t warm_up;
	const char *prepare, *keep, *frequency, *call_graph;
	bool ignore_failure, show_output;
	bool waits; /* record waits, too: not in the table, since it is about files as well */
};

extern const struct option diff_commands_option_table[];

void diff_commands_defaults(struct diff_command_runs_options *o);

/* --run was given. */
static inline bool diff_commands_wanted(const struct diff_command_runs_options *o)
{
	return o->run != OPTION_NO_COUNT;
}

/*
 * Checks the options before anything runs: without --run the other options of this table are
 * refused; with --run the words must be two commands. Returns 0, or the exit status after a
 * message.
 */
int diff_commands_check(const struct diff_command_runs_options *o, int count, char *const *words);

struct diff_commands {
	struct run_directory directory;
	VEC(char *) files[DIFF_SIDES];
	char *ended; /* a sentence: the series ended early; NULL: it is complete */
	int status;  /* the exit status of a series that ended early by a failure */
};

int diff_commands_run(struct diff_commands *c, const struct diff_command_runs_options *o,
                      char *const words[DIFF_SIDES]);
void diff_commands_done(struct diff_commands *c);

#endif
