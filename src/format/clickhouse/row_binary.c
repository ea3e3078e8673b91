/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/clickhouse/row_binary.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static uint64_t load(const char *at, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < bytes; i++)
		number |= (uint64_t)(unsigned char)at[i] << (8 * i);
	return number;
}

static bool take_number(struct row_reader *r, size_t bytes, struct row_value *v)
{
	if ((size_t)(r->end - r->at) < bytes)
		return false;
	v->number = load(r->at, bytes);
	r->at += bytes;
	return true;
}

/* At most 9 bytes: no length has more than 63 bits. */
static bool take_varint(struct row_reader *r, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; shift < 63 && r->at < r->end; shift += 7) {
		unsigned char byte = (unsigned char)*r->at++;

		*number |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

static bool take_text(struct row_reader *r, struct row_value *v)
{
	uint64_t size;

	if (!take_varint(r, &size) || size > (uint64_t)(r->end - r->at))
		return false;
	v->bytes = r->at;
	v->size = size;
	r->at += size;
	return true;
}

static bool take_array(struct row_reader *r, bool texts, struct row_value *v)
{
	struct row_value item;

	if (!take_varint(r, &v->number) || v->number > (uint64_t)(r->end - r->at))
		return false;
	v->bytes = r->at;
	if (!texts && v->number > (uint64_t)(r->end - r->at) / 8)
		return false;
	if (!texts)
		r->at += 8 * v->number;
	for (uint64_t i = 0; texts && i < v->number; i++)
		if (!take_text(r, &item))
			return false;
	v->size = (size_t)(r->at - v->bytes);
	return true;
}

static bool take(struct row_reader *r, char letter, struct row_value *v)
{
	switch (letter) {
	case 'q':
		return take_number(r, 8, v);
	case 'd':
		return take_number(r, 4, v);
	case 'w':
		return take_number(r, 2, v);
	case 'b':
		return take_number(r, 1, v);
	case 's':
		return take_text(r, v);
	default:
		return take_array(r, letter == 't', v);
	}
}

struct row_reader row_reader_of(const struct buf *bytes)
{
	const char *at = buf_text(bytes); /* never NULL */

	return (struct row_reader){.at = at, .end = at + bytes->size};
}

int row_reader_next(struct row_reader *r, const char *letters, struct row_value *values)
{
	if (r->at == r->end)
		return 0;
	for (size_t i = 0; letters[i]; i++) {
		values[i] = (struct row_value){0};
		if (!take(r, letters[i], &values[i]))
			return -EPROTO;
	}
	return 1;
}

/* Passes on all whole rows; *used: their bytes. */
static int pass_rows(struct row_stream *s, const char *bytes, size_t size, size_t *used,
                     struct error *err)
{
	struct row_reader r = {.at = bytes, .end = bytes + size};
	struct row_value values[ROW_COLUMNS_MAX];
	int status = 0;

	*used = 0;
	while (!status && row_reader_next(&r, s->letters, values) == 1) {
		*used = (size_t)(r.at - bytes);
		s->rows++;
		status = s->row(s->ctx, values, err);
	}
	return status;
}

/*
 * Twice as many bytes before the next attempt: a long row that arrives in small pieces is decoded
 * a few times only.
 */
static int decode_held(struct row_stream *s, struct error *err)
{
	size_t used, size = s->held.size;
	int status = pass_rows(s, s->held.data, size, &used, err);

	if (used) {
		memmove(s->held.data, s->held.data + used, size - used);
		s->held.size = size - used;
	}
	s->wanted = 2 * s->held.size;
	return status;
}

int row_stream_add(struct row_stream *s, const void *bytes, size_t size, struct error *err)
{
	size_t used = 0;
	int status = 0;

	if (!size)
		return 0;
	if (!s->held.size) {
		status = pass_rows(s, bytes, size, &used, err);
		if (!status && used < size)
			buf_add(&s->held, (const char *)bytes + used, size - used);
		s->wanted = 2 * s->held.size;
		return status;
	}
	if (size >= s->held_max - s->held.size)
		status = decode_held(s, err);
	if (!status && size >= s->held_max - s->held.size)
		return ROW_STREAM_BAD;
	if (!status)
		buf_add(&s->held, bytes, size);
	return status || s->held.size < s->wanted ? status : decode_held(s, err);
}

int row_stream_end(struct row_stream *s, struct error *err)
{
	int status = s->held.size ? decode_held(s, err) : 0;

	return !status && s->held.size ? ROW_STREAM_BAD : status;
}

void row_stream_done(struct row_stream *s)
{
	buf_done(&s->held);
}

bool row_value_text(const struct row_value *array, size_t *at, const char **bytes, size_t *size)
{
	struct row_reader r = {.at = array->bytes + *at, .end = array->bytes + array->size};
	struct row_value text;

	if (*at >= array->size || !take_text(&r, &text))
		return false;
	*bytes = text.bytes;
	*size = text.size;
	*at = (size_t)(r.at - array->bytes);
	return true;
}

uint64_t row_value_number(const struct row_value *array, size_t i)
{
	return load(array->bytes + 8 * i, 8);
}

int64_t row_value_signed_16(const struct row_value *v)
{
	return (int16_t)v->number;
}

static void put_number(struct buf *out, uint64_t number, size_t bytes)
{
	char text[8];

	for (size_t i = 0; i < bytes; i++)
		text[i] = (char)(number >> (8 * i));
	buf_add(out, text, bytes);
}

void row_put_count(struct buf *out, size_t count)
{
	while (count >= 128) {
		buf_putc(out, (char)(count | 128));
		count >>= 7;
	}
	buf_putc(out, (char)count);
}

void row_put_bytes(struct buf *out, const void *bytes, size_t size)
{
	row_put_count(out, size);
	if (size)
		buf_add(out, bytes, size);
}

void row_put(struct buf *out, const char *letters, ...)
{
	va_list values;

	va_start(values, letters);
	for (; *letters; letters++) {
		const char *text;

		if (*letters == 's') {
			text = va_arg(values, const char *);
			row_put_bytes(out, text ? text : "", text ? strlen(text) : 0);
		} else {
			put_number(out, va_arg(values, uint64_t),
			           *letters == 'q'   ? 8
			           : *letters == 'd' ? 4
			           : *letters == 'w' ? 2
			                             : 1);
		}
	}
	va_end(values);
}
