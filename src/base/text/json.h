/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json: writes JSON into a buf. Commas and indentation are its business; the
 * caller opens, names, and closes. Bytes that are no UTF-8 come out as U+FFFD;
 * NaN and infinity as null.
 */
#ifndef ASSAY_BASE_TEXT_JSON_H
#define ASSAY_BASE_TEXT_JSON_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
	struct buf *out;
	int depth;
	bool more;  /* a comma is due before the next value */
	bool named; /* a key was just written */
};

void json_init(struct json *j, struct buf *out);
void json_object(struct json *j);
void json_end_object(struct json *j);
void json_array(struct json *j);
void json_end_array(struct json *j);
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *text);
/* A text that may have bytes of 0 in it, and ends with one behind `bytes`. */
void json_text(struct json *j, const char *text, size_t bytes);
void json_u64(struct json *j, uint64_t value);
void json_i64(struct json *j, int64_t value);
void json_double(struct json *j, double value);
void json_bool(struct json *j, bool value);
void json_null(struct json *j);

/* key and value in one call */
void json_kstr(struct json *j, const char *key, const char *text);
/* NULL and the empty text are null. */
void json_kstr_or_null(struct json *j, const char *key, const char *text);
void json_ku64(struct json *j, const char *key, uint64_t value);
void json_ki64(struct json *j, const char *key, int64_t value);
void json_kdouble(struct json *j, const char *key, double value);
void json_kbool(struct json *j, const char *key, bool value);

#endif
