/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_run: runs a COMMAND in the foreground, with its own environment, and calls a function
 * while it runs.
 *
 * command_environment_init(), _set() for each variable, command_run(),
 * command_environment_done(). Signals from the terminal reach the command directly; assay waits for
 * it. Signals from other processes are passed on; a second one, a second later, ends the waiting.
 * SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked until then. 0 or -errno. One thread.
 * Uses: base.
 */
#ifndef ASSAY_LAUNCH_COMMAND_RUN_H
#define ASSAY_LAUNCH_COMMAND_RUN_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "launch/command_child.h"

#include <stdbool.h>
#include <sys/types.h>

struct source;

/* The variables of this process, and those that are set. */
struct command_environment {
	VEC(char *) words;
	VEC(char *) owned;
};

void command_environment_init(struct command_environment *e);
/* NULL removes the variable. */
void command_environment_set(struct command_environment *e, const char *name, const char *value);
void command_environment_done(struct command_environment *e);

/* The words of a command with blanks between them; the caller frees the text. */
char *command_run_text(char *const words[]);

struct command_run_result {
	pid_t pid;                  /* of COMMAND */
	int exit_status;            /* in wait(2) form; -1: it continues */
	int signal;                 /* the signal that ended the waiting; 0: none */
	bool command_failed;        /* the error is that COMMAND could not be started */
	struct command_usage usage; /* valid if COMMAND has ended */
};

/* `command` ends with NULL. */
int command_run(char **command, struct source *source, struct command_run_result *result,
                struct error *err);

/* Waits in the same way for a running child; on an error the child continues. */
int command_run_wait(struct command_child *child, struct command_run_result *result,
                     struct error *err);

#endif
