/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_shell: a prompt for queries at a terminal, until .quit or the end of input.
 *
 * A statement ends with `;` and may have several lines. Ctrl-C ends the running statement or the
 * typed one, not the shell. Lines are saved in $XDG_STATE_HOME/assay/sql_history (else
 * ~/.local/state), mode 0600; a failure to save them is not reported. Returns the exit status. One
 * thread; the shell handles SIGINT while it runs. Uses: base, output, sql.
 */
#ifndef ASSAY_CMD_SQL_SQL_SHELL_H
#define ASSAY_CMD_SQL_SQL_SHELL_H

#include "cmd/cli/style.h"
#include "sql/sql.h"

int sql_shell(struct sql *s, const char *format, const struct style_options *style,
              const char *file);

/* Runs statements from standard input, with dot commands on their own lines between them.
 * Ends at the first error. `text` is modified. */
int sql_shell_text(struct sql *s, const char *format, const struct style_options *style,
                   char *text);

/* Runs one dot command that is given as the QUERY. */
int sql_shell_dot(struct sql *s, const char *format, const struct style_options *style,
                  const char *line);

#endif
