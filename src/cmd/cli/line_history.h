/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_history: lines that were typed, kept in the user's state directory:
 * $XDG_STATE_HOME/assay, else ~/.local/state/assay.
 *
 * A file of one line each, 0600 in a directory 0700, both ours; links are not followed, and
 * nothing is made in a directory of somebody else. Where they cannot be kept nothing is said:
 * line_history_open() gives NULL then, which all take. Each line is written when it is added,
 * so that several may add. line_history_close() ends. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_LINE_HISTORY_H
#define ASSAY_CMD_CLI_LINE_HISTORY_H

struct line_history;

/* Calls `known` with each line of before, the oldest first. */
struct line_history *line_history_open(const char *name, void (*known)(void *, const char *),
                                       void *ctx);
void line_history_add(struct line_history *h, const char *line);
void line_history_close(struct line_history *h);

#endif
