/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_shell: questions at a terminal, one after the other, until .quit or the end of input.
 *
 * A statement ends with `;` and may take several lines. Ctrl-C ends the statement that runs
 * or is being typed, not the shell. Lines are kept in $XDG_STATE_HOME/assay/sql_history (else
 * ~/.local/state), 0600; where they cannot be kept nothing is said. Gives the exit status.
 * One thread; SIGINT is the shell's meanwhile. Uses: base, output, sql.
 */
#ifndef ASSAY_CMD_SQL_SQL_SHELL_H
#define ASSAY_CMD_SQL_SQL_SHELL_H

#include "cmd/cli/style.h"
#include "sql/sql.h"

int sql_shell(struct sql *s, const char *format, const struct style_options *style,
              const char *file);

/* Statements, and dot commands that stand between them as lines of their own: standard input's.
 * Ends at the first error. `text` is taken apart. */
int sql_shell_text(struct sql *s, const char *format, const struct style_options *style,
                   char *text);

/* One of its dot commands, as a QUERY. */
int sql_shell_dot(struct sql *s, const char *format, const struct style_options *style,
                  const char *line);

#endif
