/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/wrap.h"

#include <stdbool.h>
#include <string.h>

#define WIDTH 80

void wrap_text(struct buf *b, const char *text, size_t column, size_t indent)
{
	bool first = true, space = false;

	for (;;) {
		size_t spaces = strspn(text, " \n"), length;

		text += spaces;
		space = space || spaces;
		if (!*text)
			return;
		length = strcspn(text, " \n,");
		length += text[length] == ',';
		if (!first && column + space + length > WIDTH) {
			buf_putc(b, '\n');
			buf_pad(b, ' ', indent);
			column = indent;
		} else if (!first && space) {
			buf_putc(b, ' ');
			column++;
		}
		buf_add(b, text, length);
		column += length;
		text += length;
		first = space = false;
	}
}

/* The length of a word; a command in quotes ('assay help') is one word. */
static size_t word_length(const char *text)
{
	size_t quote = text[0] == '(' ? 1 : 0, length = quote;

	if (text[quote] == '\'')
		for (length++; text[length] && text[length] != '\''; length++)
			;
	return length + strcspn(text + length, " ");
}

void wrap_message(struct buf *b, const char *text, size_t column, size_t width)
{
	size_t indent = column;

	while (*text) {
		size_t spaces = strspn(text, " "), length = word_length(text + spaces);

		if (column > indent && column + spaces + length > width) {
			buf_putc(b, '\n');
			buf_pad(b, ' ', indent);
			column = indent;
			text += spaces;
			spaces = 0;
		}
		buf_add(b, text, spaces + length);
		column += spaces + length;
		text += spaces + length;
	}
}
