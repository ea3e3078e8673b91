/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_command: shared by commands that run a COMMAND or select processes. Messages go to stderr.
 * Uses: as command.h.
 */
#ifndef ASSAY_CMD_RUN_COMMAND_H
#define ASSAY_CMD_RUN_COMMAND_H

#include "base/error.h"
#include "cmd/cli/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_MEMORY_MAX 32 /* as text */

/* Converts --memory for the runtime: a plain number is MB here, bytes in the runtime. Returns 0, or
 * 2 after a message. */
int run_memory(const char *command, const char *text, char memory[RUN_MEMORY_MAX]);

/* The exit status as in a shell. `status`: from wait(2); -1: the waiting ended by `signal`. */
int run_exit_status(int status, int signal);

/* Reports a command that cannot run, as a shell does; hints at a subcommand of that name. */
int run_cannot(const struct command *command, const char *name, const struct error *err);

/* Reports the processes of COMMAND that got no file (launch/table_handout.h); 0: none. */
void run_tell_refused(uint64_t processes);

/* Replaces standard output by /dev/null, for commands whose output is discarded. The result is for
 * run_output_show(). */
int run_output_hide(void);
void run_output_show(int kept);

/* If the reader of standard output has closed it, ends this process by SIGPIPE. */
void run_end_unread(void);

/*
 * Selects the processes in argv among `count` pids; all if argv is empty. The caller frees the
 * array. *status, after a message: 2 if a word is not a process id, 1 if the process is not in the
 * list (`none` ends the sentence "process N").
 */
int run_choose(const char *command, const char *none, int argc, char **argv, void *files,
               size_t *count, size_t size);

#endif
