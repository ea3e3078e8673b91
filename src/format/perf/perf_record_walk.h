/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_record_walk: over records that lie in memory one after the other.
 *
 * Set p and end; then each perf_record_next() gives a record, until NULL: at
 * the end, or where the bytes cannot be records, which `why` says. Sizes are
 * bytes. Holds nothing, and a walk is one thread's; nothing is believed of the
 * bytes but what lies within them. Private to format/. Uses: nothing of ours.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_RECORD_WALK_H
#define ASSAY_FORMAT_PERF_PERF_RECORD_WALK_H

#include <stddef.h>
#include <stdint.h>

struct perf_record_walk {
	const uint8_t *p, *end;
	size_t record_size;
	const char *why; /* set when the walk ended early, at p */
};

/* The next record, which lies in memory as a whole; NULL at the end or where it is damaged. */
const uint8_t *perf_record_next(struct perf_record_walk *w);

#endif
