/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/medium_text.h"

#include "base/text/utf8.h"

#include <string.h>

struct medium_rule {
	const char *marks;   /* printable characters that the medium gives a meaning to */
	const char *keep;    /* controls that stay */
	const char *slash;   /* begins an escape that the reader gets as text */
	char before;         /* is put before a mark */
	bool short_controls; /* a line feed is `\n`, not `\x0a` */
	bool values;         /* escapes have the value of the character, as in JSON */
	bool colours;        /* the colours of assay stay */
};

static const struct medium_rule rules[] = {
        [MEDIUM_FIELD] = {"", "", "\\", .short_controls = true},
        [MEDIUM_LINES] = {"", "\n\t", "\\", .short_controls = true, .colours = true},
        [MEDIUM_JSON] = {"\"\\", "", "\\", .before = '\\', .values = true},
        [MEDIUM_CSV] = {"\"", "\n\t", "\\", .before = '"', .short_controls = true},
        [MEDIUM_MARKDOWN] = {"\\`*_{}[]<>#|~", "", "\\\\", .before = '\\', .short_controls = true},
        [MEDIUM_LABEL] = {"\"\\", "", "\\\\", .before = '\\', .short_controls = true},
};

/*
 * Directions of text, line and paragraph separators, and the other format characters of Unicode
 * that no script needs. U+200C and U+200D are needed by scripts.
 */
static const struct {
	uint32_t first, last;
} hidden[] = {
        {0x00ad, 0x00ad},   {0x061c, 0x061c},   {0x115f, 0x1160},   {0x180b, 0x180f},
        {0x200b, 0x200b},   {0x200e, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
        {0x3164, 0x3164},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff9, 0xfffb},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool medium_text_is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (code <= hidden[i].last)
			return code >= hidden[i].first;
	return false;
}

/*
 * The length of the UTF-8 sequence at `at`, 0 if there is none. The last sequence of the text may
 * be cut, and utf8_length() may then read past the last byte.
 */
static size_t sequence_length(const unsigned char *at, const unsigned char *end)
{
	unsigned char last[4] = {0};

	if (end - at >= (ptrdiff_t)sizeof(last))
		return (size_t)utf8_length(at);
	memcpy(last, at, (size_t)(end - at));
	return (size_t)utf8_length(last);
}

static uint32_t sequence_code(const unsigned char *at, size_t length)
{
	static const unsigned char heads[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = at[0] & heads[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (at[i] & 0x3f);
	return code;
}

static void value_add(struct buf *out, uint32_t code)
{
	if (code >= 0x10000) {
		buf_addf(out, "\\u%04x", 0xd7c0 + (code >> 10));
		code = 0xdc00 + (code & 0x3ff);
	}
	buf_addf(out, "\\u%04x", code);
}

static void escape_add(struct buf *out, const struct medium_rule *r, uint32_t code)
{
	const char *lines = "\nn\tt\rr", *line = code ? strchr(lines, (int)code) : NULL;

	if (r->values)
		value_add(out, code);
	else if (r->short_controls && code < 0x20 && line)
		buf_addf(out, "%s%c", r->slash, line[1]);
	else
		buf_addf(out,
		         code < 0x100     ? "%sx%02x"
		         : code < 0x10000 ? "%su%04x"
		                          : "%sU%08x",
		         r->slash, code);
}

/* Appends the character at `at`, escaped if need be. Returns its length. */
static size_t add_character(struct buf *out, const struct medium_rule *r, const unsigned char *at,
                            const unsigned char *end)
{
	size_t length = sequence_length(at, end);
	uint32_t code;

	if (!length) {
		if (r->values)
			buf_puts(out, "\xef\xbf\xbd");
		else
			escape_add(out, r, *at);
		return 1;
	}
	code = sequence_code(at, length);
	if (code && code < 0x20 && strchr(r->keep, (int)code))
		buf_putc(out, (char)code);
	else if (code < 0x20 || (code >= 0x7f && code < 0xa0) || medium_text_is_hidden(code))
		escape_add(out, r, code);
	else {
		if (code < 0x7f && strchr(r->marks, (int)code))
			buf_putc(out, r->before);
		buf_add(out, at, length);
	}
	return length;
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

/* Appends printable ASCII without marks, the most frequent case, in one piece. */
static const unsigned char *add_printable(struct buf *out, const uint64_t marks[2],
                                          const unsigned char *at, const unsigned char *end)
{
	const unsigned char *from = at;

	while (at < end && *at >= 0x20 && *at < 0x7f && !(marks[*at >> 6] >> (*at & 63) & 1))
		at++;
	buf_add(out, from, (size_t)(at - from));
	return at;
}

void medium_text_add(struct buf *out, enum text_medium medium, const char *text, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + bytes;
	const struct medium_rule *r = &rules[medium];
	uint64_t marks[2] = {0};

	for (const char *mark = r->marks; *mark; mark++)
		marks[*mark >> 6] |= UINT64_C(1) << (*mark & 63);
	while ((at = add_printable(out, marks, at, end)) < end) {
		size_t colour = r->colours ? own_colour(at, end) : 0;

		if (colour)
			buf_add(out, at, colour);
		at += colour ? colour : add_character(out, r, at, end);
	}
}

void medium_csv_field(struct buf *out, const char *text, size_t bytes, bool quoted)
{
	const char *prefix = bytes && text[0] && strchr("=+-@\t'", text[0]) ? "'" : "";

	for (size_t i = 0; i < bytes && !quoted; i++)
		quoted = text[i] && strchr("\",\n\t", text[i]);
	quoted |= !bytes;
	buf_puts(out, quoted ? "\"" : "");
	buf_puts(out, prefix);
	medium_text_add(out, MEDIUM_CSV, text, bytes);
	buf_puts(out, quoted ? "\"" : "");
}
