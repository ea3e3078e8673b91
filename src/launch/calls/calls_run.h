/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_run: runs a COMMAND with the runtime that counts calls, preloaded into it and its
 * children.
 *
 * calls_run() runs it in the foreground (command_run.h) and returns when it has exited; the tables
 * are then in `directory` (calls_tables.h). One thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_CALLS_CALLS_RUN_H
#define ASSAY_LAUNCH_CALLS_CALLS_RUN_H

#include "launch/command_run.h"

#include <stdint.h>

struct table_handout;

struct calls_run_options {
	char **command;                /* NULL-terminated */
	const char *library;           /* to be preloaded */
	const char *directory;         /* directory of the tables */
	struct table_handout *handout; /* for processes that cannot use it; NULL: none */
	const char *memory;            /* as ASSAY_CALLS_MEM; NULL: the runtime's own choice */
	const char *filter;            /* NULL: all functions */
	bool libraries;                /* also count calls into libraries */
	bool clock;                    /* each event reads the clock; no samples */
	uint64_t rate; /* samples per second of CPU time; 0: the runtime's own choice */
};

int calls_run(const struct calls_run_options *options, struct command_run_result *result,
              struct error *err);

#endif
