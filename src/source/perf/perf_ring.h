/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring: the memory that the kernel shares with us, one ring a CPU.
 *
 * The kernel moves data_head, we move data_tail; what lies between is whole
 * records. A ring is read by one thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_PERF_PERF_RING_H
#define ASSAY_SOURCE_PERF_PERF_RING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const char *data;
	size_t size;         /* bytes of data, a power of two */
	uint64_t used_max;   /* most bytes ever found in it */
	uint64_t recent_max; /* the same, since whoever looks on set it back */
	uint64_t used, used_sum,
	        reads; /* found at the last look, at all, and how many those were */
};

/* What a read finds: the second part is there when the data goes round the end. */
struct perf_ring_span {
	const void *part[2];
	size_t size[2];
	uint64_t head;
};

/* Maps the ring of an event. `size` is halved as long as the memory lock limit refuses it. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t size, struct error *err);
void perf_ring_unmap(struct perf_ring *ring);

/* All records that are there; size[0] is 0 where none. */
struct perf_ring_span perf_ring_read(struct perf_ring *ring);
/*
 * For a reader that goes from record to record and may leave some: where the
 * records end now, and giving back the room of those before `tail`. Positions
 * count bytes since the ring began; data + (position & (size - 1)) is the place.
 */
uint64_t perf_ring_head(struct perf_ring *ring);
void perf_ring_release_to(struct perf_ring *ring, uint64_t tail);
/* Whether there are records to be read. */
bool perf_ring_pending(const struct perf_ring *ring);
/* Whether these records take so many bytes of the ring, or more. */
bool perf_ring_holds(const struct perf_ring *ring, size_t bytes);
/* Gives the span's room back to the kernel. */
void perf_ring_release(struct perf_ring *ring, const struct perf_ring_span *span);

#endif
