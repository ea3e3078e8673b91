/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_cursor: reads the bytes of unwind tables within bounds. A read beyond the end sets `bad`, and
 * all later reads return 0.
 *
 * The reader checks `bad` once, at the end. Numbers are in this machine's byte order, sizes in
 * bytes (1 to 8). The caller owns the bytes; one thread uses a cursor. Private to image/ and
 * symbol/debug. Uses: nothing.
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
/* Returns a cursor for the next `size` bytes, and skips them. */
struct cfi_cursor cfi_cursor_part(struct cfi_cursor *c, uint64_t size);

#endif
