/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring: the ring buffer that the kernel shares with this process, one for each CPU.
 *
 * The kernel advances data_head and the reader advances data_tail; the bytes between them are whole
 * records. One thread reads a ring. Uses: base.
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
	size_t size;                    /* bytes of data, a power of two */
	uint64_t used_max;              /* maximum of the bytes found at a read */
	uint64_t recent_max;            /* the same since the last reset by the caller */
	uint64_t used, used_sum, reads; /* bytes: last read, all reads; count of reads */
};

/* The result of a read: the second part is used if the data wraps around the end of the ring. */
struct perf_ring_span {
	const void *part[2];
	size_t size[2];
	uint64_t head;
};

/* Maps the ring of an event. `size` is halved until the limit for locked memory allows it. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t size, struct error *err);
void perf_ring_unmap(struct perf_ring *ring);

/* Returns all available records; size[0] is 0 if there are none. */
struct perf_ring_span perf_ring_read(struct perf_ring *ring);
/*
 * For a reader that takes single records and may leave others: perf_ring_head() returns the end of
 * the available records, and perf_ring_release_to() releases the bytes before `tail`. Positions
 * count bytes since the ring was created; a position's address is data + (position & (size - 1)).
 */
uint64_t perf_ring_head(struct perf_ring *ring);
void perf_ring_release_to(struct perf_ring *ring, uint64_t tail);
/* Returns true if there are unread records. */
bool perf_ring_pending(const struct perf_ring *ring);
/* Returns true if the unread records have at least `bytes` bytes. */
bool perf_ring_holds(const struct perf_ring *ring, size_t bytes);
/* Releases the span's bytes to the kernel. */
void perf_ring_release(struct perf_ring *ring, const struct perf_ring_span *span);

#endif
