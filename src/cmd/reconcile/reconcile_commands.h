/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile_commands: runs a command in turn with samples and with counted calls.
 *
 * The standard output of the command is discarded, and its standard input is empty. The recordings
 * are in a directory of their own; reconcile_commands_done() removes it unless they are to be kept.
 * Messages go to stderr. One thread. Uses: cmd/calls, cmd/session.
 */
#ifndef ASSAY_CMD_RECONCILE_RECONCILE_COMMANDS_H
#define ASSAY_CMD_RECONCILE_RECONCILE_COMMANDS_H

#include "base/memory/vec.h"
#include "cmd/session/run_directory.h"

#include <stdbool.h>

struct reconcile_commands_options {
	uint64_t run;
	const char *native, *keep, *frequency;
};

extern const struct option reconcile_commands_option_table[];

struct reconcile_commands {
	struct run_directory directory;
	VEC(char *) files;
};

/* `command` ends with NULL. Returns 0, or an exit status after a message. */
int reconcile_commands_run(struct reconcile_commands *c, const struct reconcile_commands_options *o,
                           char **command);
void reconcile_commands_done(struct reconcile_commands *c);

#endif
