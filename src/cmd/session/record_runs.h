/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_runs: runs a COMMAND several times, each run in a process of its own, which records it.
 *
 * record_runs_begin(); record_runs_one() for each run; record_runs_end(). Signals from the terminal
 * reach the command directly; between begin and end this process only notes them. Messages go to
 * stderr. One thread. Uses: base, session.
 */
#ifndef ASSAY_CMD_SESSION_RECORD_RUNS_H
#define ASSAY_CMD_SESSION_RECORD_RUNS_H

#include "cmd/session/record_options.h"

struct record_run {
	const struct record_options *options; /* NULL: the command only runs */
	const char *command_name;             /* "record", for messages */
	const char *output;
	char **argv;  /* of COMMAND, ends with NULL */
	bool discard; /* COMMAND's standard output goes to /dev/null */
};

struct record_run_end {
	bool recorded; /* false, after a message: the recording failed */
	int status;    /* of COMMAND, as in a shell */
};

void record_runs_begin(void);
struct record_run_end record_runs_one(const struct record_run *run);
/* True: a signal requests the end of all runs. */
bool record_runs_interrupted(void);
void record_runs_end(void);

#endif
