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
