/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_digest.h"

#include "base/memory/blake2b.h"

#include <stdarg.h>
#include <string.h>

/* The length comes first: "ab", "c" and "a", "bc" differ. */
static void add_bytes(struct blake2b *b, const void *bytes, size_t size)
{
	blake2b_add_u64(b, size);
	if (size)
		blake2b_add(b, bytes, size);
}

uint64_t click_digest(const char *kind, const char *letters, ...)
{
	uint8_t digest[BLAKE2B_BYTES];
	struct blake2b b;
	uint64_t id = 0;
	va_list values;

	blake2b_init(&b);
	add_bytes(&b, kind, strlen(kind));
	va_start(values, letters);
	for (; *letters; letters++) {
		const char *text;

		if (*letters == 'q') {
			blake2b_add_u64(&b, va_arg(values, uint64_t));
			continue;
		}
		text = va_arg(values, const char *);
		if (*letters == 's')
			add_bytes(&b, text ? text : "", text ? strlen(text) : 0);
		else
			add_bytes(&b, text, va_arg(values, size_t));
	}
	va_end(values);
	blake2b_end(&b, digest);
	for (int i = 0; i < 8; i++)
		id |= (uint64_t)digest[i] << (8 * i);
	return id ? id : 1;
}
