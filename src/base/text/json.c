/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/json.h"

#include "base/text/figure.h"
#include "base/text/medium_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void json_init(struct json *j, struct buf *out)
{
	*j = (struct json){.out = out};
}

static void json_line(struct json *j)
{
	if (j->compact)
		return;
	buf_putc(j->out, '\n');
	buf_pad(j->out, ' ', (size_t)j->depth * 2);
}

static void json_before(struct json *j)
{
	if (j->named) {
		j->named = false;
		return;
	}
	if (j->more)
		buf_putc(j->out, ',');
	if (j->depth)
		json_line(j);
}

static void json_open(struct json *j, char c)
{
	json_before(j);
	buf_putc(j->out, c);
	j->depth++;
	j->more = false;
}

static void json_close(struct json *j, char c)
{
	j->depth--;
	if (j->more)
		json_line(j);
	buf_putc(j->out, c);
	j->more = true;
	if (!j->depth)
		buf_putc(j->out, '\n');
}

void json_object(struct json *j)
{
	json_open(j, '{');
}

void json_end_object(struct json *j)
{
	json_close(j, '}');
}

void json_array(struct json *j)
{
	json_open(j, '[');
}

void json_end_array(struct json *j)
{
	json_close(j, ']');
}

static void json_quote(struct buf *out, const char *text, size_t bytes)
{
	buf_putc(out, '"');
	medium_text_add(out, MEDIUM_JSON, text, bytes);
	buf_putc(out, '"');
}

void json_key(struct json *j, const char *key)
{
	json_before(j);
	json_quote(j->out, key, strlen(key));
	buf_puts(j->out, j->compact ? ":" : ": ");
	j->named = true;
}

void json_text(struct json *j, const char *text, size_t bytes)
{
	json_before(j);
	json_quote(j->out, text, bytes);
	j->more = true;
}

void json_str(struct json *j, const char *text)
{
	json_text(j, text, strlen(text));
}

static void json_word(struct json *j, const char *word)
{
	json_before(j);
	buf_puts(j->out, word);
	j->more = true;
}

void json_u64(struct json *j, uint64_t value)
{
	json_before(j);
	text_number(j->out, value);
	j->more = true;
}

void json_i64(struct json *j, int64_t value)
{
	json_before(j);
	if (value < 0)
		buf_putc(j->out, '-');
	text_number(j->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	j->more = true;
}

/* Whether "%.9g" prints the number as a whole number without a sign. */
static bool is_small_whole(double value)
{
	return !signbit(value) && value < 1e9 && (double)(uint32_t)value == value;
}

void json_double(struct json *j, double value)
{
	char text[40];

	if (!isfinite(value)) {
		json_null(j);
		return;
	}
	if (is_small_whole(value)) {
		json_u64(j, (uint64_t)value);
		return;
	}
	snprintf(text, sizeof(text), "%.9g", value);
	json_word(j, text);
}

void json_bool(struct json *j, bool value)
{
	json_word(j, value ? "true" : "false");
}

void json_null(struct json *j)
{
	json_word(j, "null");
}

void json_raw(struct json *j, const char *json)
{
	json_word(j, json);
}

void json_kstr(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_str(j, text);
}

void json_kstr_or_null(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	if (text && *text)
		json_str(j, text);
	else
		json_null(j);
}

void json_ku64(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_u64(j, value);
}

void json_ki64(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	json_i64(j, value);
}

void json_kdouble(struct json *j, const char *key, double value)
{
	json_key(j, key);
	json_double(j, value);
}

void json_kbool(struct json *j, const char *key, bool value)
{
	json_key(j, key);
	json_bool(j, value);
}
