/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json: writes JSON into a buf. It writes commas and indentation; the caller opens and closes
 * containers and names values. Bytes that are not UTF-8 become U+FFFD; NaN and infinity become
 * null.
 */
#ifndef ASSAY_BASE_TEXT_JSON_H
#define ASSAY_BASE_TEXT_JSON_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
	struct buf *out;
	int depth;
	bool more;    /* a comma is needed before the next value */
	bool named;   /* a key was just written */
	bool compact; /* set after json_init(): no lines and no indentation */
};

void json_init(struct json *j, struct buf *out);
void json_object(struct json *j);
void json_end_object(struct json *j);
void json_array(struct json *j);
void json_end_array(struct json *j);
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *text);
/* A text of `bytes` bytes that may contain NUL; text[bytes] must be 0. */
void json_text(struct json *j, const char *text, size_t bytes);
void json_u64(struct json *j, uint64_t value);
void json_i64(struct json *j, int64_t value);
void json_double(struct json *j, double value);
void json_bool(struct json *j, bool value);
void json_null(struct json *j);
/* A value that the caller wrote as JSON. */
void json_raw(struct json *j, const char *json);

/* Writes a key and its value. */
void json_kstr(struct json *j, const char *key, const char *text);
/* Writes null for NULL and for the empty text. */
void json_kstr_or_null(struct json *j, const char *key, const char *text);
void json_ku64(struct json *j, const char *key, uint64_t value);
void json_ki64(struct json *j, const char *key, int64_t value);
void json_kdouble(struct json *j, const char *key, double value);
void json_kbool(struct json *j, const char *key, bool value);

#endif
