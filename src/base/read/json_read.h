/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_read: reads JSON in memory, value by value, without a tree.
 *
 *	json_reader_init(&r, bytes, size);
 *	if (json_enter(&r, '{'))
 *		while (json_member(&r, &key))        or json_item(&r) after json_enter(&r, '[')
 *			... json_read_text(), json_read_number() or json_skip(), once for each ...
 *	if (r.why) the text is damaged at r.at - r.begin
 *
 * After an error all functions return false. Containers are entered and left in pairs; nesting of
 * more than LIMIT_JSON_DEPTH is an error. Escapes are decoded to UTF-8, a lone surrogate and \u0000
 * to U+FFFD; other bytes are copied unchecked. One thread. Uses: base.
 */
#ifndef ASSAY_BASE_READ_JSON_READ_H
#define ASSAY_BASE_READ_JSON_READ_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct json_reader {
	const char *begin, *at, *end;
	const char *why; /* the error; NULL: none */
	unsigned depth;
	bool first; /* no item of the innermost container was read yet */
};

void json_reader_init(struct json_reader *r, const void *bytes, size_t size);

#define JSON_END (-1)

/* The first character of the next value, '0' for every number; JSON_END: the end, or an error. */
int json_next_kind(struct json_reader *r);
bool json_enter(struct json_reader *r, char open);
/* The next item; false: the container has ended and is left, or an error. */
bool json_item(struct json_reader *r);
/* The same for an object; the key is in `key`. */
bool json_member(struct json_reader *r, struct buf *key);
bool json_read_text(struct json_reader *r, struct buf *text);
/* The characters of a number. */
bool json_read_number(struct json_reader *r, const char **text, size_t *size);
/* Skips any value. */
bool json_skip(struct json_reader *r);

#endif
