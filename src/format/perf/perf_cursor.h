/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_cursor: reads untrusted bytes one after the other. A read beyond the end returns zeros, or
 * NULL, and sets `bad`; all later reads do the same. Private to format/perf. Uses: base.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_CURSOR_H
#define ASSAY_FORMAT_PERF_PERF_CURSOR_H

#include "format/perf/perf_data_layout.h"

#include <stdbool.h>

struct perf_cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline const uint8_t *perf_cursor_take(struct perf_cursor *c, uint64_t size)
{
	const uint8_t *p = c->p;

	if (c->bad || size > (size_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	c->p += size;
	return p;
}

static inline uint32_t perf_cursor_u32(struct perf_cursor *c)
{
	const uint8_t *p = perf_cursor_take(c, sizeof(uint32_t));

	return p ? load_u32(p) : 0;
}

static inline uint64_t perf_cursor_u64(struct perf_cursor *c)
{
	const uint8_t *p = perf_cursor_take(c, sizeof(uint64_t));

	return p ? load_u64(p) : 0;
}

#endif
