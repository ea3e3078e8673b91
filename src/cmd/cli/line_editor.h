/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_editor: reads lines from a terminal, with editing and history if assay was built with
 * libedit.
 *
 * line_editor_open(), lines, line_editor_close(), which saves the history. History is a file with
 * mode 0600 in directories of the user with mode 0700; links and files of other users are not
 * used. A signal whose handler sets *flag ends the line. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_LINE_EDITOR_H
#define ASSAY_CMD_CLI_LINE_EDITOR_H

#include <signal.h>
#include <stdbool.h>

struct line_editor;

/* `name`: selects the settings of the editor, and the history file NAME_history. */
struct line_editor *line_editor_open(const char *name, const volatile sig_atomic_t *flag);
void line_editor_close(struct line_editor *e);

enum line_result { LINE_READ, LINE_BROKEN, LINE_END }; /* BROKEN: by a signal */

/* *line: without its line end, valid until the next call; it was added to the history. */
enum line_result line_editor_read(struct line_editor *e, const char *prompt, const char **line);

#endif
