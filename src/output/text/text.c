/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/text/table.h"

#include "base/text/plain_text.h"

#include <stdarg.h>
#include <string.h>

void text_clean(struct buf *out, const char *text)
{
	plain_text_add(out, text, strlen(text));
}

void text_heading(struct buf *out, const struct text_style *style, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (out->size)
		buf_putc(out, '\n');
	buf_puts(out, style->colour ? "\033[1m" : "");
	text_clean(out, buf_text(&text));
	buf_puts(out, style->colour ? "\033[0m\n" : "\n");
	buf_done(&text);
}

/* A unit belongs to the number before it: "%", "ns", with any text that follows without a space. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"%", "ns", "us", "ms", "s"};
	size_t length = strcspn(text, " ,;:).\n");

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i]) == length && !strncmp(text, units[i], length))
			return true;
	return false;
}

/* Keeps a number and its unit on one line. */
static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " \n");

	if (length && text[length] == ' ' && text[length - 1] >= '0' && text[length - 1] <= '9' &&
	    is_unit(text + length + 1))
		length += 1 + strcspn(text + length + 1, " \n");
	return length;
}

void text_fill(struct buf *out, const struct text_style *style, const char *first, size_t indent,
               const char *text)
{
	size_t width = style->width ? style->width : 80, used = strlen(first);

	buf_puts(out, first);
	if (used < indent) {
		buf_pad(out, ' ', indent - used);
		used = indent;
	}
	while (*text) {
		size_t word = word_length(text);

		if (used + word > width && used > indent) {
			out->size -= out->data[out->size - 1] == ' ';
			buf_putc(out, '\n');
			buf_pad(out, ' ', indent);
			used = indent;
		}
		plain_text_add(out, text, word);
		used += word;
		text += word + strspn(text + word, " \n");
		if (*text) {
			buf_putc(out, ' ');
			used++;
		}
	}
	buf_putc(out, '\n');
}
