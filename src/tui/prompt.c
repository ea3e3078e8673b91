/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/prompt.h"

#include "base/text/display_width.h"
#include "base/text/utf8.h"

#include <string.h>

#define TEXT_MAX 1000 /* bytes */

void prompt_open(struct prompt *p, const char *label, const char *text)
{
	p->label = label;
	buf_clear(&p->text);
	buf_puts(&p->text, text ? text : "");
}

static void remove_last(struct buf *text)
{
	while (text->size && ((unsigned char)text->data[text->size - 1] & 0xc0) == 0x80)
		text->size--;
	if (text->size)
		text->data[--text->size] = '\0';
}

/* Appends a character as UTF-8. */
static void add_character(struct buf *text, uint32_t code)
{
	char bytes[4];

	if (text->size < TEXT_MAX)
		buf_add(text, bytes, utf8_encode(bytes, code));
}

enum prompt_result prompt_key(struct prompt *p, uint32_t key)
{
	switch (key) {
	case KEY_CODE_ENTER:
		p->label = NULL;
		return PROMPT_ENTERED;
	case KEY_CODE_ESCAPE:
		p->label = NULL;
		return PROMPT_CANCELLED;
	case KEY_CODE_BACKSPACE:
		remove_last(&p->text);
		return PROMPT_TYPES;
	case 'U' - '@': /* ^U */
		buf_clear(&p->text);
		return PROMPT_TYPES;
	default:
		if (key >= ' ' && key < KEY_CODE_FIRST && key != 0x7f)
			add_character(&p->text, key);
		return PROMPT_TYPES;
	}
}

void prompt_draw(const struct prompt *p, struct canvas *c, unsigned line)
{
	const char *text = buf_text(&p->text);
	size_t label = display_width(p->label),
	       room = c->width > label + 1 ? c->width - label - 1 : 1;

	/* The end of a long text is shown. */
	while (display_width(text) > room)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	canvas_add(c, line, CANVAS_BOLD, p->label, c->width);
	canvas_add(c, line, CANVAS_PLAIN, text, c->width);
	if (line < c->height)
		canvas_cursor(c, line, c->lines[line].used);
}

void prompt_done(struct prompt *p)
{
	buf_done(&p->text);
	p->label = NULL;
}
