/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_run: a COMMAND in the foreground, in an environment of its own, and what is
 * to be done while it runs.
 *
 * command_environment_init(), _set() for each variable, command_run(),
 * command_environment_done(). Signals of the terminal reach the command by
 * themselves and are waited out; what others send to assay is passed on, and a
 * second one, a second later, ends the waiting. SIGCHLD, SIGINT, SIGTERM, SIGHUP
 * and SIGQUIT are held meanwhile. 0 or -errno. One thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_COMMAND_RUN_H
#define ASSAY_LAUNCH_COMMAND_RUN_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "launch/command_child.h"

#include <stdbool.h>
#include <sys/types.h>

/* This process's variables, but for what is set. */
struct command_environment {
	VEC(char *) words;
	VEC(char *) owned;
};

void command_environment_init(struct command_environment *e);
/* NULL: it is not to be there. */
void command_environment_set(struct command_environment *e, const char *name, const char *value);
void command_environment_done(struct command_environment *e);

struct command_run {
	char **command; /* NULL-terminated */
	struct command_environment *environment;
	/* All may be NULL. The command is there as `pid`, and has not begun. */
	int (*ready)(void *ctx, pid_t pid, struct error *err);
	/* Again and again while it runs; gives how many ms may pass until the next time. */
	int (*meanwhile)(void *ctx, int *wait_ms, struct error *err);
	void *ctx;
};

struct command_run_result {
	pid_t pid;           /* of COMMAND */
	int exit_status;     /* in wait(2) form; -1: it goes on */
	int signal;          /* that ended the waiting */
	bool command_failed; /* the error is that COMMAND could not be run */
};

int command_run(const struct command_run *run, struct command_run_result *result,
                struct error *err);

/* Waits in the same way for a child that runs already, and is left to itself on an error. */
int command_run_wait(struct command_child *child, struct command_run_result *result,
                     struct error *err);

#endif
