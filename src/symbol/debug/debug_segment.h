/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_segment: converts overlapping spans of addresses to a flat list of segments.
 *
 * Spans may nest or overlap in any way. debug_flatten() cuts them into segments without overlap.
 * A segment extends to the start of the next one. Its value is that of the deepest span there (of
 * spans of equal depth, the one that starts later, then the one that comes first in the input), or
 * ID_NONE. n spans give at most 2n segments, in O(n log n). It works on the caller's arrays only:
 * any thread. Uses: base.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_SEGMENT_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_SEGMENT_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

struct debug_span {
	uint64_t start, end; /* start < end */
	uint32_t depth, value;
};

struct debug_segment {
	uint64_t start;
	uint32_t value;
	uint32_t unused; /* 0, since segments are written to files unchanged */
};

struct debug_spans {
	struct debug_span *items;
	size_t count, room;
};

struct debug_segments {
	struct debug_segment *items;
	size_t count, room;
};

/* Sorts the spans, and appends their segments. */
void debug_flatten(struct debug_spans *spans, struct debug_segments *out);

/* The value at an address among `count` segments; ID_NONE before the first. */
uint32_t debug_segment_at(const struct debug_segment *items, size_t count, uint64_t address);

#endif
