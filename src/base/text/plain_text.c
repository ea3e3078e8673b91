/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/plain_text.h"

#include "base/text/utf8.h"

#include <stdbool.h>
#include <string.h>

/*
 * The length of the UTF-8 sequence at `at`, 0 if there is none. The last sequence of the text may
 * be cut, and utf8_length() may then read past the last byte.
 */
static size_t sequence(const unsigned char *at, const unsigned char *end)
{
	unsigned char last[4] = {0};

	if (end - at >= (ptrdiff_t)sizeof(last))
		return (size_t)utf8_length(at);
	memcpy(last, at, (size_t)(end - at));
	return (size_t)utf8_length(last);
}

/* Appends the character at `at`, escaped if a terminal would interpret it. Returns its length. */
static size_t add_character(struct buf *out, const unsigned char *at, const unsigned char *end)
{
	size_t n = sequence(at, end);

	if (*at == '\n' || *at == '\t' || *at == '\r')
		buf_addf(out, "\\%c", *at == '\n' ? 'n' : *at == '\t' ? 't' : 'r');
	else if (!n || *at < 0x20 || *at == 0x7f)
		buf_addf(out, "\\x%02x", *at);
	else if (n == 2 && at[0] == 0xc2 && at[1] < 0xa0)
		buf_addf(out, "\\x%02x", at[1]);
	else
		buf_add(out, at, n);
	return n ? n : 1;
}

/* Appends printable ASCII, the most frequent case, in one piece. */
static const unsigned char *add_printable(struct buf *out, const unsigned char *at,
                                          const unsigned char *end)
{
	const unsigned char *from = at;

	while (at < end && *at >= 0x20 && *at < 0x7f)
		at++;
	buf_add(out, from, (size_t)(at - from));
	return at;
}

/*
 * The length of a colour sequence that assay writes (ESC [ N m, N 0 to 2 or 30 to 37); 0: there is
 * none.
 */
static size_t own_colour(const unsigned char *at, const unsigned char *end)
{
	size_t room = (size_t)(end - at);

	if (room < 4 || at[0] != 0x1b || at[1] != '[')
		return 0;
	if (at[2] >= '0' && at[2] <= '2' && at[3] == 'm')
		return 4;
	return room >= 5 && at[2] == '3' && at[3] >= '0' && at[3] <= '7' && at[4] == 'm' ? 5 : 0;
}

static void add(struct buf *out, const char *text, size_t bytes, bool lines)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + bytes;

	while ((at = add_printable(out, at, end)) < end) {
		size_t own = !lines ? 0 : *at == '\n' || *at == '\t' ? 1 : own_colour(at, end);

		if (own)
			buf_add(out, at, own);
		at += own ? own : add_character(out, at, end);
	}
}

void plain_text_add(struct buf *out, const char *text, size_t bytes)
{
	add(out, text, bytes, false);
}

void plain_text_lines(struct buf *out, const char *text, size_t bytes)
{
	add(out, text, bytes, true);
}
