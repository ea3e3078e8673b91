/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_run: a COMMAND with the runtime that counts calls loaded into it and
 * into all that it starts.
 *
 * calls_run() runs it in the foreground and returns when it has ended; the
 * tables lie in `directory` then (calls_tables.h). Signals of the terminal
 * reach the command by themselves and are waited out; what others send to
 * assay is passed on, and a second one, a second later, ends the waiting.
 * SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT are held meanwhile. One thread.
 * Uses: base.
 */
#ifndef ASSAY_SESSION_CALLS_RUN_H
#define ASSAY_SESSION_CALLS_RUN_H

#include "base/error.h"

#include <stdbool.h>

struct calls_run_options {
	char **command;        /* NULL-terminated */
	const char *library;   /* to be preloaded */
	const char *directory; /* where tables go */
	const char *memory;    /* as ASSAY_CALLS_MEM; NULL: the runtime's own choice */
	const char *filter;    /* NULL: all functions */
	bool libraries;        /* calls into libraries too */
};

struct calls_run_result {
	int exit_status;     /* in wait(2) form; -1: it goes on */
	int signal;          /* that ended the waiting */
	bool command_failed; /* the error is that COMMAND could not be run */
};

int calls_run(const struct calls_run_options *options, struct calls_run_result *result,
              struct error *err);

#endif
