/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/json_read.h"

#include "base/limit.h"
#include "base/text/utf8.h"

#include <ctype.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

static bool bad(struct json_reader *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return false;
}

void json_reader_init(struct json_reader *r, const void *bytes, size_t size)
{
	*r = (struct json_reader){.begin = bytes, .at = bytes, .end = (const char *)bytes + size};
	if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) /* a byte order mark */
		r->at += 3;
}

static void skip_blanks(struct json_reader *r)
{
	while (r->at < r->end &&
	       (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
}

static bool take(struct json_reader *r, char c)
{
	skip_blanks(r);
	if (r->why || r->at >= r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

int json_next_kind(struct json_reader *r)
{
	skip_blanks(r);
	if (r->why || r->at >= r->end)
		return JSON_END;
	return isdigit((unsigned char)*r->at) || *r->at == '-' ? '0' : (unsigned char)*r->at;
}

bool json_enter(struct json_reader *r, char open)
{
	if (!take(r, open))
		return bad(r, open == '{' ? "an object is missing" : "an array is missing");
	if (r->depth >= LIMIT_JSON_DEPTH)
		return bad(r, "too many values are nested");
	r->depth++;
	r->first = true;
	return true;
}

/* True if there is another item before the end of the container. */
static bool more(struct json_reader *r, char close)
{
	if (r->why)
		return false;
	if (take(r, close)) {
		r->depth--;
		r->first = false;
		return false;
	}
	if (!r->first && !take(r, ','))
		return bad(r, r->at < r->end ? "a comma is missing" : "the text ends too early");
	r->first = false;
	return true;
}

bool json_item(struct json_reader *r)
{
	return more(r, ']');
}

bool json_member(struct json_reader *r, struct buf *key)
{
	if (!more(r, '}') || !json_read_text(r, key))
		return false;
	return take(r, ':') || bad(r, "a colon is missing");
}

static void add_character(struct buf *b, uint32_t c)
{
	char bytes[4];

	buf_add(b, bytes, utf8_encode(bytes, c));
}

static bool read_hex(struct json_reader *r, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		int c = r->at < r->end ? (unsigned char)*r->at : 0;

		if (!isxdigit(c))
			return bad(r, "\\u needs four hexadecimal digits");
		*value = *value << 4 | (uint32_t)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return true;
}

/* Two surrogates are one character. */
static bool read_unicode(struct json_reader *r, struct buf *text)
{
	uint32_t c, low;
	const char *after;

	if (!read_hex(r, &c))
		return false;
	after = r->at;
	if (c >= 0xd800 && c < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
	    r->at[1] == 'u') {
		r->at += 2;
		if (!read_hex(r, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000) {
			add_character(text, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
			return true;
		}
		r->at = after;
	}
	add_character(text, !c || (c >= 0xd800 && c < 0xe000) ? REPLACEMENT : c);
	return true;
}

static bool read_escape(struct json_reader *r, struct buf *text)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (r->at >= r->end)
		return bad(r, "a text does not end");
	if (*r->at == 'u') {
		r->at++;
		return read_unicode(r, text);
	}
	found = *r->at ? strchr(from, *r->at) : NULL;
	if (!found)
		return bad(r, "an escape of a text is not known");
	r->at++;
	buf_putc(text, to[found - from]);
	return true;
}

bool json_read_text(struct json_reader *r, struct buf *text)
{
	buf_clear(text);
	if (!take(r, '"'))
		return bad(r, "a text is missing");
	while (r->at < r->end && *r->at != '"') {
		const char *from = r->at;

		while (r->at < r->end && *r->at != '"' && *r->at != '\\')
			r->at++;
		buf_add(text, from, (size_t)(r->at - from));
		if (r->at < r->end && *r->at == '\\') {
			r->at++;
			if (!read_escape(r, text))
				return false;
		}
	}
	return take(r, '"') || bad(r, "a text does not end");
}

bool json_read_number(struct json_reader *r, const char **text, size_t *size)
{
	skip_blanks(r);
	*text = r->at;
	while (!r->why && r->at < r->end && *r->at && strchr("+-.0123456789eE", *r->at))
		r->at++;
	*size = (size_t)(r->at - *text);
	return *size ? true : bad(r, "a number is missing");
}

static bool skip_text(struct json_reader *r)
{
	r->at++;
	for (; r->at < r->end && *r->at != '"'; r->at++)
		if (*r->at == '\\' && r->at + 1 < r->end)
			r->at++;
	return take(r, '"') || bad(r, "a text does not end");
}

static bool skip_word(struct json_reader *r)
{
	while (r->at < r->end && isalpha((unsigned char)*r->at))
		r->at++;
	return true;
}

/* Brackets are counted and not matched: a value that is skipped is not checked. */
bool json_skip(struct json_reader *r)
{
	size_t open = 0;

	do {
		int kind = json_next_kind(r);
		const char *text;
		size_t size;

		if (kind == JSON_END)
			return bad(r, "the text ends too early");
		if (kind == '{' || kind == '[' || kind == '}' || kind == ']' || kind == ',' ||
		    kind == ':') {
			if (!open && kind != '{' && kind != '[')
				return bad(r, "a value is missing");
			open += kind == '{' || kind == '[';
			open -= kind == '}' || kind == ']';
			r->at++;
		} else if (kind == '"') {
			skip_text(r);
		} else if (kind == '0') {
			json_read_number(r, &text, &size);
		} else if (isalpha(kind)) {
			skip_word(r);
		} else {
			return bad(r, "a value is missing");
		}
	} while (open && !r->why);
	return !r->why;
}
