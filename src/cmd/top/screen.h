/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen: the terminal with a browser on it, for recordings that do not change.
 *
 * screen_show() returns when the user quits: 0, or the exit status after a message. SIGINT and
 * SIGTERM quit as well; the terminal is left as it was. One thread. Uses: cmd/cli, tui.
 */
#ifndef ASSAY_CMD_TOP_SCREEN_H
#define ASSAY_CMD_TOP_SCREEN_H

#include "cmd/cli/style.h"
#include "tui/browser.h"
#include "tui/terminal.h"

int screen_show(const char *command, const struct browser_host *host,
                const struct style_options *style);

/* Draws the browser on the terminal. */
void screen_draw(struct terminal *t, struct browser *b);
/* Handles all keys that were pressed; true: there was one. */
bool screen_keys(struct terminal *t, struct browser *b);
/* Whether the options and the environment allow colours. */
bool screen_has_colour(const struct style_options *style);

#endif
