/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_editor: lines from a terminal, with editing and history where assay was built with
 * libedit, plainly else.
 *
 * line_editor_open(), lines, line_editor_close(), which keeps the history. History is a file
 * of one line each, 0600 in directories 0700 of ours; links and what is not ours are left
 * alone. A signal whose handler sets *flag ends the line. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_LINE_EDITOR_H
#define ASSAY_CMD_CLI_LINE_EDITOR_H

#include <signal.h>
#include <stdbool.h>

struct line_editor;

/* `name`: of the program, for the editor's settings, and of its history: NAME_history. */
struct line_editor *line_editor_open(const char *name, const volatile sig_atomic_t *flag);
void line_editor_close(struct line_editor *e);

enum line_result { LINE_READ, LINE_BROKEN, LINE_END }; /* BROKEN: by a signal */

/* *line: without its end, good until the next one. It is in the history then. */
enum line_result line_editor_read(struct line_editor *e, const char *prompt, const char **line);

#endif
