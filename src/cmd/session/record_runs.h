/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_runs: runs a COMMAND several times, each run in a process of its own, which records it.
 *
 * record_runs_begin(); record_runs_one() for each run; record_runs_end(). Commands get an empty
 * standard input. Between begin and end this process only notes the signals that end it, and passes
 * them on to the process of the run, except those of the terminal, which reach it directly. A
 * second signal, a second later, kills a command that is not recorded. If this process dies, the
 * process of the run receives SIGTERM. Messages go to stderr. One thread. Uses: base, launch,
 * session.
 */
#ifndef ASSAY_CMD_SESSION_RECORD_RUNS_H
#define ASSAY_CMD_SESSION_RECORD_RUNS_H

#include "cmd/session/record_options.h"

/* Where COMMAND's standard output goes. */
enum record_run_output { RECORD_RUN_SHOWN, RECORD_RUN_TO_STDERR, RECORD_RUN_DISCARDED };

struct record_run {
	const struct record_options *options; /* NULL: the command only runs */
	const char *command_name;             /* "record", for messages */
	const char *output;
	char **argv; /* of COMMAND, ends with NULL */
	enum record_run_output shown;
	bool quiet; /* no message while waiting for COMMAND after --duration */
};

struct record_run_end {
	bool complete;         /* the recording covers the whole run, and is closed */
	bool failed;           /* the recording failed, after a message */
	int recorder_end;      /* wait(2) form; not 0: the recorder was killed */
	int status;            /* of COMMAND, as in a shell */
	uint64_t lost_records; /* records dropped because the buffers were full */
};

void record_runs_begin(void);
struct record_run_end record_runs_one(const struct record_run *run);
/* True: a signal requests the end of all runs. */
bool record_runs_interrupted(void);
void record_runs_end(void);

#endif
