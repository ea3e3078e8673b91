/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/shell_word.h"

#include "base/text/plain_text.h"

#include <stdbool.h>
#include <string.h>

/*
 * Appends a name with control characters or invalid UTF-8, in the form that bash and zsh read back.
 * The first byte of a C1 control is escaped by itself; the second one is then invalid alone and is
 * escaped too.
 */
static void add_escaped(struct buf *out, const char *text)
{
	buf_puts(out, "$'");
	for (const char *end = text; *text; text = end) {
		end = text + strcspn(text, "'\\\xc2");
		plain_text_add(out, text, (size_t)(end - text));
		if (*end) {
			buf_addf(out, *end == '\xc2' ? "\\x%02x" : "\\%c", (unsigned char)*end);
			end++;
		}
	}
	buf_putc(out, '\'');
}

static bool is_plain(const char *text)
{
	struct buf plain = {0};
	bool same;

	plain_text_add(&plain, text, strlen(text));
	same = !strcmp(buf_text(&plain), text);
	buf_done(&plain);
	return same;
}

void shell_word_add(struct buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                            "/._-+,:@%=";

	const char *odd = text;

	while (*odd && ((unsigned char)*odd >= 0x80 || strchr(plain, *odd)))
		odd++;
	if (odd > text && !*odd && is_plain(text)) {
		buf_puts(out, text);
		return;
	}
	if (!is_plain(text)) {
		add_escaped(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (strchr("\"\\$`", *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}
