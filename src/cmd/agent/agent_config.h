/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_config: options of a command from a file of lines `option = value`.
 *
 * The names are those of the command's own list of options, without dashes; the value of a flag is
 * yes or no. Empty lines and lines that begin with # are skipped. There are no quotes and no
 * continued lines. A later line replaces an earlier one.
 *
 *	agent_config_read(&c, &command, options, path, err)
 *	agent_config_add(&c, &command, allowed, options, name, lines, err)	the same from memory
 *	agent_config_over(&command, options, line, defaults)	the command line decides
 *	agent_config_done(&c)		the texts in `options` are invalid then
 *
 * -errno with a sentence that names the file and the line; -ENOENT: there is no such file. A file
 * that other users may write to is refused. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_AGENT_AGENT_CONFIG_H
#define ASSAY_CMD_AGENT_AGENT_CONFIG_H

#include "cmd/cli/option.h"

struct agent_config {
	VEC(char *) words;
	VEC(struct option_result) results;
};

/* `options`: with the defaults. `refused`: names that a file must not have, NULL at the end. */
int agent_config_read(struct agent_config *c, const struct command *command,
                      const char *const *refused, void *options, const char *path,
                      struct error *err);
/*
 * The same for lines in memory, with names of `allowed` alone, NULL at the end. `name`: of the
 * text, in sentences. -EPERM: there is such an option, but not for these lines.
 */
int agent_config_add(struct agent_config *c, const struct command *command,
                     const char *const *allowed, void *options, const char *name, const char *lines,
                     struct error *err);
/* Copies the options that `line` has and `defaults` has not. */
void agent_config_over(const struct command *command, void *options, const void *line,
                       const void *defaults);
void agent_config_done(struct agent_config *c);

#endif
