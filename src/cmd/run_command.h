/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_command: what the commands that run a COMMAND, and choose among processes,
 * have in common. Messages go to stderr. Uses: what command.h uses.
 */
#ifndef ASSAY_CMD_RUN_COMMAND_H
#define ASSAY_CMD_RUN_COMMAND_H

#include "base/error.h"
#include "cmd/cli/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_MEMORY_MAX 32 /* as text */

/* --memory, as the runtime reads it: there a number alone is bytes, here MB. 0, or 2 and told. */
int run_memory(const char *command, const char *text, char memory[RUN_MEMORY_MAX]);

/* As a shell has it; `status` is wait(2)'s, or -1: a signal to us ended the waiting. */
int run_exit_status(int status, int signal);

/* As a shell says it; a word that is a command of ours may have been meant as such. */
int run_cannot(const struct command *command, const char *name, const struct error *err);

/* Ends as the reader of our output would have had it, had we not had more to do. */
void run_end_unread(void);

/*
 * Keeps the files of a list (structs of `size` bytes that begin with struct runtime_file) whose
 * processes argv names; all if it names none. Returns 0, or after a message 2 where a word is no
 * process id, 1 where no file has it (`none` ends the sentence "process N").
 */
int run_choose(const char *command, const char *none, int argc, char **argv, void *files,
               size_t *count, size_t size);

#endif
