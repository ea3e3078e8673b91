/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_history: the history of typed lines, in the user's state directory
 * ($XDG_STATE_HOME/assay, else ~/.local/state/assay).
 *
 * A text file with mode 0600 in a directory with mode 0700, both owned by the user; links are not
 * followed, and no file is created in a directory of another user. If the history cannot be kept,
 * line_history_open() returns NULL without a message, and all functions accept NULL. A line is
 * written when it is added, so several processes may add lines. line_history_close() ends. One
 * thread. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_LINE_HISTORY_H
#define ASSAY_CMD_CLI_LINE_HISTORY_H

struct line_history;

/* Calls `known` with each earlier line, the oldest first. */
struct line_history *line_history_open(const char *name, void (*known)(void *, const char *),
                                       void *ctx);
void line_history_add(struct line_history *h, const char *line);
void line_history_close(struct line_history *h);

#endif
