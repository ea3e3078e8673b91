/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * terminal: shows a canvas on the terminal and reads keys; the one place of this room that writes
 * to it.
 *
 * terminal_open() takes the terminal of standard input and output; terminal_close() leaves it as it
 * was. Keys are read without waiting: a caller polls terminal_fd(). Without ncursesw at build time
 * terminal_open() fails with -ENOSYS and names the package. One terminal and one thread at a time.
 * The locale decides which characters can be shown: LC_CTYPE is set while the terminal is open.
 * Uses: base, tui.
 */
#ifndef ASSAY_TUI_TERMINAL_H
#define ASSAY_TUI_TERMINAL_H

#include "base/error.h"
#include "tui/canvas.h"
#include "tui/keys.h"

struct terminal;

/* Whether assay was built with ncursesw. */
bool terminal_is_built(void);
/* Checks without changing the terminal: -ENOTTY, -EINVAL (TERM), -ENOSYS. */
int terminal_check(struct error *err);
int terminal_open(struct terminal **t, bool colour, struct error *err);
void terminal_close(struct terminal *t); /* NULL-safe */
void terminal_size(const struct terminal *t, unsigned *width, unsigned *height);
int terminal_fd(const struct terminal *t);
/* False: no key was pressed. */
bool terminal_key(struct terminal *t, struct key_event *key);
void terminal_show(struct terminal *t, const struct canvas *c);

#endif
