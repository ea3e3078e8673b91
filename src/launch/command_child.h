/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_child: the COMMAND that is profiled, held back until all is ready.
 *
 *	command_child_fork()	a child that waits
 *	command_child_start()	it execs now; tells why if it cannot
 *	command_child_ended()	has it ended? never blocks
 *	command_child_end()	ends it if need be, and waits
 *
 * A struct of zeros is no child, and command_child_end() takes it. 0 or -errno,
 * where an error is asked for. One thread, of which it is the child. Uses: base.
 */
#ifndef ASSAY_LAUNCH_COMMAND_CHILD_H
#define ASSAY_LAUNCH_COMMAND_CHILD_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct command_child {
	pid_t pid;       /* 0: there is none */
	int go, failure; /* pipes */
	bool ended;
	int status; /* of wait(2), once ended */
};

/* `mask` is the signal mask that the command gets. */
int command_child_fork(struct command_child *c, char **argv, const sigset_t *mask,
                       struct error *err);
/* The same; `environment` is what it gets in the place of ours, NULL: ours. */
int command_child_fork_in(struct command_child *c, char **argv, char **environment,
                          const sigset_t *mask, struct error *err);
int command_child_start(struct command_child *c, const char *name, struct error *err);
bool command_child_ended(struct command_child *c);
/* SIGTERM, then at most two seconds of patience. False: it goes on without us. */
bool command_child_end(struct command_child *c);

/*
 * While a command runs in the foreground: signals that end it, and that tell of its end,
 * are held and come by a descriptor, which is given; -errno. `before`: the mask from before,
 * the command's.
 */
int command_signals_hold(sigset_t *before, struct error *err);
/* What came late was the command's: it is dropped, as a report is still to be printed. */
void command_signals_release(int signals, const sigset_t *before);

#endif
