/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The bits of up to three bytes, the first byte on top. */
static uint32_t block_of(const uint8_t *bytes, size_t size)
{
	return (uint32_t)bytes[0] << 16 | (size > 1 ? (uint32_t)bytes[1] << 8 : 0) |
	       (size > 2 ? bytes[2] : 0);
}

void base64_add(struct buf *out, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i += BASE64_BLOCK) {
		size_t left = size - i;
		uint32_t block = block_of(at + i, left);
		char text[4] = {digits[block >> 18], digits[block >> 12 & 63],
		                left > 1 ? digits[block >> 6 & 63] : '=',
		                left > 2 ? digits[block & 63] : '='};

		buf_add(out, text, sizeof(text));
	}
}
