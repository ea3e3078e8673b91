/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/text_view.h"

#include <string.h>

static void list_lines(struct text_view *v)
{
	size_t at = 0;

	v->lines.count = 0;
	while (at < v->text.size) {
		const char *line = v->text.data + at;

		if (line_filter_has(&v->filter, line))
			vec_push(&v->lines, at);
		at += strlen(line) + 1;
	}
	scroll_fit(&v->scroll, v->lines.count, v->scroll.page);
}

void text_view_show(struct text_view *v, const char *text)
{
	buf_clear(&v->text);
	while (*text) {
		size_t length = strcspn(text, "\n");

		buf_add(&v->text, text, length);
		buf_putc(&v->text, '\0');
		text += length + (text[length] == '\n');
	}
	list_lines(v);
}

void text_view_done(struct text_view *v)
{
	buf_done(&v->text);
	line_filter_done(&v->filter);
	vec_done(&v->lines);
}

int text_view_filter(struct text_view *v, const char *text, struct error *err)
{
	int status = line_filter_set(&v->filter, text, err);

	if (!status)
		list_lines(v);
	return status;
}

void text_view_move(struct text_view *v, long lines)
{
	scroll_view(&v->scroll, lines);
}

void text_view_draw(struct text_view *v, struct canvas *c, unsigned line, unsigned lines)
{
	scroll_fit(&v->scroll, v->lines.count, lines);
	for (unsigned i = 0; i < lines && v->scroll.top + i < v->lines.count; i++)
		canvas_add(c, line + i, CANVAS_PLAIN,
		           v->text.data + v->lines.items[v->scroll.top + i], c->width);
}
