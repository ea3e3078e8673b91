/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/perf/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring_map(struct perf_ring *ring, int fd, size_t size, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	size = size < page ? page : (size_t)1 << (63 - __builtin_clzl(size));
	for (; size >= page; size /= 2) {
		memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (memory != MAP_FAILED) {
			*ring = (struct perf_ring){
			        .page = memory, .data = (const char *)memory + page, .size = size};
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM)
			break;
	}
	return error_set(err, errno,
	                 "no ring buffer: %s; the memory that may be locked is bounded by "
	                 "'ulimit -l' and kernel.perf_event_mlock_kb: raise one of them, or give "
	                 "a smaller --memory",
	                 strerror(errno));
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->size + (size_t)(ring->data - (const char *)ring->page));
	ring->page = NULL;
}

uint64_t perf_ring_head(struct perf_ring *ring)
{
	/*
	 * Pairs with the kernel's write barrier before data_head: all records before head are
	 * visible.
	 */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	ring->used = head - ring->page->data_tail;
	ring->used_sum += ring->used;
	ring->reads++;
	if (ring->used > ring->used_max)
		ring->used_max = ring->used;
	if (ring->used > ring->recent_max)
		ring->recent_max = ring->used;
	return head;
}

bool perf_ring_pending(const struct perf_ring *ring)
{
	/*
	 * The result is a hint and no record is read because of it, so relaxed order is sufficient.
	 */
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_RELAXED) != ring->page->data_tail;
}

bool perf_ring_holds(const struct perf_ring *ring, size_t bytes)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_RELAXED);

	return head - ring->page->data_tail >= bytes;
}

struct perf_ring_span perf_ring_read(struct perf_ring *ring)
{
	uint64_t head = perf_ring_head(ring);
	uint64_t tail = ring->page->data_tail;
	size_t at = (size_t)(tail & (ring->size - 1));
	size_t count = (size_t)(head - tail);
	size_t first = ring->size - at;

	if (first > count)
		first = count;
	return (struct perf_ring_span){
	        .part = {ring->data + at, ring->data},
	        .size = {first, count - first},
	        .head = head,
	};
}

void perf_ring_release_to(struct perf_ring *ring, uint64_t tail)
{
	/*
	 * The release order ensures that all reads of the records end before the kernel overwrites
	 * them.
	 */
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

void perf_ring_release(struct perf_ring *ring, const struct perf_ring_span *span)
{
	perf_ring_release_to(ring, span->head);
}
