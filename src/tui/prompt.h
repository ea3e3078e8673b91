/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prompt: a line in which the user types a text.
 *
 * A new struct is all zeros: no line is typed. prompt_open() begins, prompt_key() handles a key;
 * prompt_done() frees. The text is UTF-8. No function fails. One thread. Uses: base, tui.
 */
#ifndef ASSAY_TUI_PROMPT_H
#define ASSAY_TUI_PROMPT_H

#include "tui/canvas.h"
#include "tui/keys.h"

enum prompt_result { PROMPT_TYPES, PROMPT_ENTERED, PROMPT_CANCELLED };

struct prompt {
	const char *label; /* NULL: no line is typed */
	struct buf text;
};

/* `text`: what is there to be changed; NULL: nothing. `label` must stay valid. */
void prompt_open(struct prompt *p, const char *label, const char *text);
/* After PROMPT_ENTERED and PROMPT_CANCELLED the line is closed; `text` stays until the next one. */
enum prompt_result prompt_key(struct prompt *p, uint32_t key);
void prompt_draw(const struct prompt *p, struct canvas *c, unsigned line);
void prompt_done(struct prompt *p);

#endif
