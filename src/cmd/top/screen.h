/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen: the terminal with a browser on it, for recordings, which do not change, and for models
 * that are read again from time to time.
 *
 * screen_show() and screen_follow() return when the user quits: 0, or the exit status after a
 * message. SIGINT and SIGTERM quit as well; the terminal is left as it was. One thread. Uses:
 * cmd/cli, tui.
 */
#ifndef ASSAY_CMD_TOP_SCREEN_H
#define ASSAY_CMD_TOP_SCREEN_H

#include "cmd/cli/style.h"
#include "tui/browser.h"
#include "tui/terminal.h"

int screen_show(const char *command, const struct browser_host *host,
                const struct style_options *style);

/*
 * Calls `look` with the host's context after each delay, in which the model may change: the browser
 * has forgotten what refers to it.
 */
typedef void screen_look_fn(void *ctx);
int screen_follow(const char *command, const struct browser_host *host,
                  const struct style_options *style, uint64_t delay_ns, screen_look_fn *look);

/* Draws the browser on the terminal. */
void screen_draw(struct terminal *t, struct browser *b);
/* Handles all keys that were pressed; true: there was one. */
bool screen_keys(struct terminal *t, struct browser *b);
/* Whether the options and the environment allow colours. */
bool screen_has_colour(const struct style_options *style);

#endif
