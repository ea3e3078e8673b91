/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring_merge: returns the records of all CPUs' rings one after the other in time order,
 * without copying them.
 *
 *	perf_ring_merge_new()		once
 *	perf_ring_merge_add()		for each CPU; rings that are not mapped are skipped
 *	perf_ring_merge_begin()		reads the heads of the rings
 *	perf_ring_merge_next()		the oldest record; NULL: none is older than requested
 *	perf_ring_merge_end()		releases the bytes of all returned records
 *	perf_ring_merge_relieve()	while the caller waits: copies records out of full rings
 *	perf_ring_merge_free()		NULL-safe
 *
 * The records of a CPU keep the order of its ring: a record that is older than the one before it
 * comes right after it. Bytes are released while reading, so that a slow reader blocks the kernel
 * as little as possible. One thread. Uses: base, event, source, format.
 */
#ifndef ASSAY_SESSION_STREAM_PERF_RING_MERGE_H
#define ASSAY_SESSION_STREAM_PERF_RING_MERGE_H

#include "format/perf/perf_record.h"
#include "source/perf/perf_ring.h"

struct ring_record {
	const uint8_t *bytes; /* complete and aligned; valid until the next call */
	size_t size;
	size_t cpu;       /* as given to perf_ring_merge_add() */
	uint64_t time_ns; /* of the record before it, if its own is earlier, or in the future */
};

struct perf_ring_merge;

struct perf_ring_merge *perf_ring_merge_new(struct perf_decoder *decoder);
void perf_ring_merge_free(struct perf_ring_merge *m);
void perf_ring_merge_add(struct perf_ring_merge *m, struct perf_ring *ring, size_t cpu);

/* Returns the fill level of the fullest ring, 0 to 1. */
double perf_ring_merge_begin(struct perf_ring_merge *m);
bool perf_ring_merge_next(struct perf_ring_merge *m, uint64_t until_ns, struct ring_record *record);
void perf_ring_merge_end(struct perf_ring_merge *m);

/*
 * Copies records out of rings that fill up, at most twice the bytes of the ring, without unused
 * space in samples; they are returned in their order. The ring of the last record that
 * perf_ring_merge_next() returned is not changed until perf_ring_merge_hold() has copied that
 * record.
 */
void perf_ring_merge_relieve(struct perf_ring_merge *m);
/* Returns the copy, valid until the next perf_ring_merge_next(). */
const uint8_t *perf_ring_merge_hold(struct perf_ring_merge *m);

#endif
