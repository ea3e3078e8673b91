/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/canvas.h"

#include "base/text/display_width.h"
#include "base/text/plain_text.h"

#include <string.h>

void canvas_init(struct canvas *c, unsigned width, unsigned height)
{
	*c = (struct canvas){
	        .width = width, .height = height, .cursor_column = -1, .cursor_line = -1};
	c->lines = xcalloc(height + 1, sizeof(*c->lines));
}

void canvas_done(struct canvas *c)
{
	for (unsigned i = 0; i < c->height; i++)
		vec_done(&c->lines[i].spans);
	free(c->lines);
	buf_done(&c->texts);
	buf_done(&c->scratch);
}

void canvas_clean(struct buf *out, const char *text)
{
	plain_text_add(out, text, strlen(text));
}

/* Adds a text that was cleaned, cut to `room`. */
static void add_span(struct canvas *c, struct canvas_line *l, enum canvas_style style,
                     const char *text, size_t room)
{
	struct canvas_span span = {.column = l->used, .style = style, .at = c->texts.size};
	size_t used, fit = display_fit(text, room, &used);

	if (text[fit] && room) {
		fit = display_fit(text, room - 1, &used);
		buf_add(&c->texts, text, fit);
		buf_putc(&c->texts, '~');
		used++;
	} else {
		buf_add(&c->texts, text, fit);
	}
	span.bytes = c->texts.size - span.at;
	span.width = (unsigned)used;
	l->used += span.width;
	if (span.bytes)
		vec_push(&l->spans, span);
}

/* The room that is left in the line, at most `room`. */
static unsigned left(const struct canvas *c, const struct canvas_line *l, unsigned room)
{
	unsigned rest = c->width > l->used ? c->width - l->used : 0;

	return room < rest ? room : rest;
}

void canvas_add(struct canvas *c, unsigned line, enum canvas_style style, const char *text,
                unsigned room)
{
	if (line >= c->height)
		return;
	buf_clear(&c->scratch);
	canvas_clean(&c->scratch, text);
	add_span(c, &c->lines[line], style, buf_text(&c->scratch), left(c, &c->lines[line], room));
}

void canvas_add_right(struct canvas *c, unsigned line, enum canvas_style style, const char *text,
                      unsigned room)
{
	size_t width;

	if (line >= c->height)
		return;
	buf_clear(&c->scratch);
	canvas_clean(&c->scratch, text);
	width = display_width(buf_text(&c->scratch));
	if (width < room)
		canvas_move(c, line, c->lines[line].used + room - (unsigned)width);
	add_span(c, &c->lines[line], style, buf_text(&c->scratch), left(c, &c->lines[line], room));
}

void canvas_move(struct canvas *c, unsigned line, unsigned column)
{
	if (line < c->height && c->lines[line].used < column)
		c->lines[line].used = column;
}

void canvas_over(struct canvas *c, unsigned line, enum canvas_style style)
{
	if (line < c->height)
		c->lines[line].over = style;
}

void canvas_cursor(struct canvas *c, unsigned line, unsigned column)
{
	c->cursor_line = (int)line;
	c->cursor_column = (int)(column < c->width ? column : c->width ? c->width - 1 : 0);
}

void canvas_line_text(const struct canvas *c, unsigned line, struct buf *out)
{
	unsigned used = 0;

	if (line >= c->height)
		return;
	vec_each (span, &c->lines[line].spans) {
		buf_pad(out, ' ', span->column - used);
		buf_add(out, c->texts.data + span->at, span->bytes);
		used = span->column + span->width;
	}
}
