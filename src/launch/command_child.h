/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_child: the profiled COMMAND, which waits until the measurement is ready.
 *
 *	command_child_fork()	creates a child that waits
 *	command_child_start()	lets it exec; returns the error if it cannot
 *	command_child_ended()	has it exited? never blocks
 *	command_child_end()	ends it if necessary, and waits
 *
 * A zeroed struct has no child, and command_child_end() accepts it. Functions with an error return
 * 0 or -errno. One thread, which is the parent. Uses: base.
 */
#ifndef ASSAY_LAUNCH_COMMAND_CHILD_H
#define ASSAY_LAUNCH_COMMAND_CHILD_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Resources of the command and of the children that it waited for; all 0 while it runs. */
struct command_usage {
	uint64_t wall_ns; /* from its start to its end */
	uint64_t user_ns, system_ns;
	uint64_t rss_bytes; /* the largest resident size of one of the processes */
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
};

struct command_child {
	pid_t pid;       /* 0: there is none */
	int go, failure; /* pipes */
	bool ended;
	int status;        /* of wait(2), once ended */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	struct command_usage usage;
};

/* `mask` is the signal mask that the command gets. */
int command_child_fork(struct command_child *c, char **argv, const sigset_t *mask,
                       struct error *err);
/* As above. `environment`: of the child; NULL: that of this process. */
int command_child_fork_in(struct command_child *c, char **argv, char **environment,
                          const sigset_t *mask, struct error *err);
int command_child_start(struct command_child *c, const char *name, struct error *err);
bool command_child_ended(struct command_child *c);
/* Sends SIGTERM and waits at most two seconds. False: it continues to run. */
bool command_child_end(struct command_child *c);

/*
 * While a command runs in the foreground: blocks the signals that end it, and SIGCHLD, and returns
 * a descriptor that receives them; -errno. `before`: the old mask, for the command.
 */
int command_signals_hold(sigset_t *before, struct error *err);
/*
 * Restores the mask. Late signals were meant for the command and are discarded, since the report
 * must still be printed.
 */
void command_signals_release(int signals, const sigset_t *before);

#endif
