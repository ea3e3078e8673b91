/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_cursor.h"

#include <stddef.h>

uint64_t cfi_cursor_uint(struct cfi_cursor *c, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->at) < size) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	/* Only files of this machine's byte order, which is little endian, are opened. */
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)c->at[i] << (8 * i);
	c->at += size;
	return value;
}

int64_t cfi_cursor_int(struct cfi_cursor *c, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (int64_t)(cfi_cursor_uint(c, size) << unused) >> unused;
}

/* LEB128, of any length; bits beyond the 64th are dropped. */
static uint64_t leb(struct cfi_cursor *c, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = cfi_cursor_uint(c, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

uint64_t cfi_cursor_uleb(struct cfi_cursor *c)
{
	return leb(c, false);
}

int64_t cfi_cursor_sleb(struct cfi_cursor *c)
{
	return (int64_t)leb(c, true);
}

struct cfi_cursor cfi_cursor_part(struct cfi_cursor *c, uint64_t size)
{
	struct cfi_cursor part = {c->at, c->at, false};

	if (size > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		c->at = c->end;
	} else {
		c->at += size;
	}
	part.end = c->at;
	part.bad = c->bad;
	return part;
}
