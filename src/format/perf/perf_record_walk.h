/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_record_walk: iterates over consecutive records in memory.
 *
 * Set p and end; then each perf_record_next() returns a record, and NULL at the end or at invalid
 * bytes, which `why` describes. Sizes are bytes. Owns nothing; one thread uses a walk. The bytes
 * are untrusted; only bytes before `end` are read. Private to format/. Uses: nothing.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_RECORD_WALK_H
#define ASSAY_FORMAT_PERF_PERF_RECORD_WALK_H

#include <stddef.h>
#include <stdint.h>

struct perf_record_walk {
	const uint8_t *p, *end;
	size_t record_size;
	const char *why; /* set if the walk ended early, at p */
};

/* The next record, which is completely in memory; NULL at the end or at damage. */
const uint8_t *perf_record_next(struct perf_record_walk *w);

#endif
