/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/label_file.h"

#include "base/text/utf8.h"

#include <ctype.h>
#include <string.h>

struct reading {
	const char *at, *end; /* of a line */
};

static void put_character(struct buf *out, uint32_t c)
{
	char bytes[4];

	buf_add(out, bytes, utf8_encode(bytes, c));
}

/* Reads `count` digits of a base of 8 or 16. */
static bool take_number(struct reading *r, int count, unsigned base, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < count; i++, r->at++) {
		int c = r->at < r->end ? tolower((unsigned char)*r->at) : 0;
		int digit = isdigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;

		if ((unsigned)digit >= base)
			return false;
		*value = *value * base + (uint32_t)digit;
	}
	return true;
}

/* After a backslash. */
static bool take_escape(struct reading *r, struct buf *out)
{
	static const char names[] = "abfnrtv\\\"'", values[] = "\a\b\f\n\r\t\v\\\"'";
	const char *known = r->at < r->end && *r->at ? strchr(names, *r->at) : NULL;
	uint32_t value;
	char kind;

	if (known) {
		buf_putc(out, values[known - names]);
		r->at++;
		return true;
	}
	if (r->at >= r->end)
		return false;
	kind = *r->at;
	if (kind >= '0' && kind <= '7') {
		if (!take_number(r, 3, 8, &value))
			return false;
		buf_putc(out, (char)value);
		return true;
	}
	r->at++;
	if (kind == 'x' && take_number(r, 2, 16, &value))
		buf_putc(out, (char)value);
	else if ((kind == 'u' && take_number(r, 4, 16, &value)) ||
	         (kind == 'U' && take_number(r, 8, 16, &value) && value <= 0x10ffff))
		put_character(out, value);
	else
		return false;
	return true;
}

static bool take_quoted(struct reading *r, struct buf *out)
{
	while (r->at < r->end) {
		char c = *r->at++;

		if (c == '"')
			return r->at == r->end;
		if (c != '\\')
			buf_putc(out, c);
		else if (!take_escape(r, out))
			return false;
	}
	return false;
}

static bool read_line(struct labels *l, const char *prefix, const char *line, size_t size)
{
	const char *equals = memchr(line, '=', size);
	struct reading r = {equals ? equals + 1 : line, line + size};
	struct buf key = {0}, value = {0};
	bool good = equals && equals > line;

	if (good && r.at < r.end && *r.at == '"') {
		r.at++;
		good = take_quoted(&r, &value);
	} else if (good) {
		buf_add(&value, r.at, (size_t)(r.end - r.at));
	}
	if (good) {
		buf_puts(&key, prefix);
		buf_add(&key, line, (size_t)(equals - line));
		labels_add(l, key.data, key.size, value.size ? value.data : "", value.size);
	}
	buf_done(&key);
	buf_done(&value);
	return good;
}

static size_t trimmed(const char **line, size_t size)
{
	while (size && isspace((unsigned char)**line)) {
		(*line)++;
		size--;
	}
	while (size && isspace((unsigned char)(*line)[size - 1]))
		size--;
	return size;
}

size_t label_file_read(struct labels *l, const char *prefix, const char *bytes, size_t size)
{
	size_t bad = 0;

	for (size_t at = 0; at < size;) {
		const char *line = bytes + at, *end = memchr(line, '\n', size - at);
		size_t length = end ? (size_t)(end - line) : size - at;

		at += length + (end != NULL);
		length = trimmed(&line, length);
		if (length && *line != '#')
			bad += !read_line(l, prefix, line, length);
	}
	return bad;
}
