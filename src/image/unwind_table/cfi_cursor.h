/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_cursor: reads the bytes that unwind tables are made of, and stops at
 * their end: from then on it is `bad`, and all that it gives is 0.
 *
 * Whoever reads looks at `bad` once, at the end. Numbers are in this machine's
 * byte order, sizes in bytes (1 to 8). Holds nothing: the bytes are the
 * caller's; a cursor is one thread's. Private to image/. Uses: nothing of ours.
 */
#ifndef ASSAY_IMAGE_UNWIND_TABLE_CFI_CURSOR_H
#define ASSAY_IMAGE_UNWIND_TABLE_CFI_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct cfi_cursor {
	const uint8_t *at, *end;
	bool bad;
};

uint64_t cfi_cursor_uint(struct cfi_cursor *c, unsigned size);
int64_t cfi_cursor_int(struct cfi_cursor *c, unsigned size);
uint64_t cfi_cursor_uleb(struct cfi_cursor *c);
int64_t cfi_cursor_sleb(struct cfi_cursor *c);
/* A part of so many bytes, which the cursor passes. */
struct cfi_cursor cfi_cursor_part(struct cfi_cursor *c, uint64_t size);

#endif
