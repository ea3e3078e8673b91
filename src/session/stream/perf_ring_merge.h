/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring_merge: the records of all CPUs' rings in time order, one after the
 * other, where they stand.
 *
 *	perf_ring_merge_new()	once
 *	perf_ring_merge_add()	for each CPU; rings that are not mapped are passed over
 *	perf_ring_merge_begin()	looks what the rings hold now
 *	perf_ring_merge_next()	the oldest record, NULL when none is older than asked for
 *	perf_ring_merge_end()	gives the room of all that was taken back
 *	perf_ring_merge_relieve()	while something else is waited for: copies out of full rings
 *	perf_ring_merge_free()	NULL-safe
 *
 * A CPU's records come in the order of its ring: one that is older than the
 * record before it comes right after it. Room is given back as the reading
 * goes on, so that a slow reader holds the kernel up as little as can be.
 * One thread. Uses: base, event, source, format.
 */
#ifndef ASSAY_SESSION_STREAM_PERF_RING_MERGE_H
#define ASSAY_SESSION_STREAM_PERF_RING_MERGE_H

#include "format/perf/perf_record.h"
#include "source/perf/perf_ring.h"

struct ring_record {
	const uint8_t *bytes; /* whole and aligned; good until the next call */
	size_t size;
	size_t cpu; /* as it was added */
	uint64_t time_ns;
};

struct perf_ring_merge;

struct perf_ring_merge *perf_ring_merge_new(struct perf_decoder *decoder);
void perf_ring_merge_free(struct perf_ring_merge *m);
void perf_ring_merge_add(struct perf_ring_merge *m, struct perf_ring *ring, size_t cpu);

/* Returns how full the fullest ring was, in parts of 1. */
double perf_ring_merge_begin(struct perf_ring_merge *m);
bool perf_ring_merge_next(struct perf_ring_merge *m, uint64_t until_ns, struct ring_record *record);
void perf_ring_merge_end(struct perf_ring_merge *m);

/*
 * Copies records out of rings that fill, twice the bytes of the ring at most and without the
 * unused room in samples; they come in their turn. The ring of the record that
 * perf_ring_merge_next() gave last is left as it is, until perf_ring_merge_hold() copied that
 * record.
 */
void perf_ring_merge_relieve(struct perf_ring_merge *m);
/* Returns the copy: good until the next perf_ring_merge_next(). */
const uint8_t *perf_ring_merge_hold(struct perf_ring_merge *m);

#endif
