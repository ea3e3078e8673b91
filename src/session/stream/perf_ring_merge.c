/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/stream/perf_ring_merge.h"

#include "base/clock.h"
#include "base/memory/heap.h"
#include "format/perf/perf_data_layout.h"

#include <stdlib.h>
#include <sys/mman.h>

/*
 * Bytes are released to the kernel in pieces, since each release costs the writing CPU a cache
 * miss.
 */
#define RELEASE_BYTES (256u << 10)

/* A ring is relieved if its fill level is above 1 / this. */
#define RELIEVED_PART 8
#define LINE_BYTES 64
#define PREFETCHED_BYTES 640
#define FUTURE_NS UINT64_C(1000000000)
/* At most this many times the size of a ring is copied out of it. */
#define ASIDE_RINGS 2

/* Records that were copied out of their ring early; the records in the ring follow them. */
struct ring_merge_helper_thread {
	uint8_t *bytes; /* NULL: none were copied yet */
	size_t size, at;
};

struct ring_merge_reader {
	struct perf_ring *ring;
	struct ring_record record; /* the next record; bytes NULL: no record is left */
	/*
	 * Positions in the ring: of the record, of its end, and of the ring's head. from == at: the
	 * record is not in the ring.
	 */
	uint64_t from, at, end;
	uint64_t released;
	uint8_t *joined; /* copy of a record that wraps in the ring, or is held */
	struct ring_merge_helper_thread aside;
};

struct perf_ring_merge {
	struct perf_decoder *decoder;
	VEC(struct ring_merge_reader) readers;
	VEC(struct ring_merge_reader *)
	heap;               /* oldest record first; without readers that have no record */
	bool taken;         /* the record of heap[0] was returned */
	uint64_t latest_ns; /* no record can have a later time; read again when one has */
};

struct perf_ring_merge *perf_ring_merge_new(struct perf_decoder *decoder)
{
	struct perf_ring_merge *m = xcalloc(1, sizeof(*m));

	m->decoder = decoder;
	return m;
}

void perf_ring_merge_add(struct perf_ring_merge *m, struct perf_ring *ring, size_t cpu)
{
	struct ring_merge_reader reader = {.ring = ring, .record.cpu = cpu};

	if (!ring->page)
		return;
	reader.joined = xmalloc(PERF_RECORD_SIZE_MAX + 8);
	vec_push(&m->readers, reader);
}

static size_t helper_thread_room(const struct ring_merge_reader *r)
{
	return ASIDE_RINGS * r->ring->size;
}

void perf_ring_merge_free(struct perf_ring_merge *m)
{
	if (!m)
		return;
	vec_each (reader, &m->readers) {
		free(reader->joined);
		if (reader->aside.bytes)
			munmap(reader->aside.bytes, helper_thread_room(reader));
	}
	vec_done(&m->readers);
	vec_done(&m->heap);
	free(m);
}

static const uint8_t *place(const struct ring_merge_reader *r, uint64_t position)
{
	return (const uint8_t *)r->ring->data + (position & (r->ring->size - 1));
}

/* The size of the record at r->at; 0: there is none. */
static size_t size_in_ring(struct ring_merge_reader *r)
{
	size_t left = (size_t)(r->end - r->at), size;

	if (left < PERF_RECORD_HEADER_SIZE)
		return 0;
	/* Records are aligned to 8 bytes, so a header never wraps. */
	size = load_u16(place(r, r->at) + 6);
	if (size >= PERF_RECORD_HEADER_SIZE && size <= left)
		return size;
	r->at = r->end; /* an invalid record: the next record cannot be found */
	return 0;
}

/* The bytes at r->at. A record that wraps around the end of the ring is copied to `joined`. */
static const uint8_t *bytes_in_ring(const struct ring_merge_reader *r, size_t size, uint8_t *joined)
{
	const uint8_t *p = place(r, r->at);
	size_t first = (size_t)((const uint8_t *)r->ring->data + r->ring->size - p);

	if (first >= size)
		return p;
	memcpy(joined, p, first);
	memcpy(joined + first, r->ring->data, size - first);
	return joined;
}

static bool load_aside(struct ring_merge_reader *r)
{
	struct ring_merge_helper_thread *a = &r->aside;

	if (a->at == a->size) {
		if (a->size)
			madvise(a->bytes, helper_thread_room(r), MADV_DONTNEED);
		a->at = a->size = 0;
		return false;
	}
	r->from = r->at;
	r->record.bytes = a->bytes + a->at;
	r->record.size = load_u16(r->record.bytes + 6);
	a->at += r->record.size;
	return true;
}

/*
 * The kernel wrote the records on another CPU, or long ago: their lines are in no cache of this
 * CPU. While this record is processed, the first lines of the next one are prefetched (its fields,
 * its registers and the top of its stack), and the end of this one.
 */
static void prefetch(const struct ring_merge_reader *r)
{
	uint64_t left = r->end - r->at, size = left < PREFETCHED_BYTES ? left : PREFETCHED_BYTES;

	__builtin_prefetch(place(r, r->at - 1));
	for (uint64_t i = 0; i < size; i += LINE_BYTES)
		__builtin_prefetch(place(r, r->at + i));
}

static bool load_from_ring(struct ring_merge_reader *r)
{
	size_t size = size_in_ring(r);

	if (!size)
		return false;
	r->record.bytes = bytes_in_ring(r, size, r->joined);
	r->record.size = size;
	r->from = r->at;
	r->at += size;
	prefetch(r);
	return true;
}

/*
 * A record whose size is wrong has old bytes as its time (see perf_decoder_written()). If that time
 * is in the future, the record would hold up all later ones of its ring.
 */
static bool is_possible(struct perf_ring_merge *m, uint64_t time_ns)
{
	if (time_ns > m->latest_ns)
		m->latest_ns = clock_ns(CLOCK_MONOTONIC) + FUTURE_NS;
	return time_ns <= m->latest_ns;
}

/* Loads the record after this one. */
static bool load(struct perf_ring_merge *m, struct ring_merge_reader *r)
{
	uint64_t time_ns;

	r->record.bytes = NULL;
	if (!load_aside(r) && !load_from_ring(r))
		return false;
	time_ns = perf_decoder_time(m->decoder, r->record.bytes, r->record.size);
	if (time_ns > r->record.time_ns && is_possible(m, time_ns))
		r->record.time_ns = time_ns;
	return true;
}

static bool is_older(const struct ring_merge_reader *a, const struct ring_merge_reader *b)
{
	return a->record.time_ns < b->record.time_ns;
}

double perf_ring_merge_begin(struct perf_ring_merge *m)
{
	double fullest = 0;

	m->heap.count = 0;
	m->taken = false;
	vec_each (reader, &m->readers) {
		uint64_t tail = reader->ring->page->data_tail;
		double full;

		reader->at = reader->released = tail;
		reader->end = perf_ring_head(reader->ring);
		full = (double)(reader->end - tail) / (double)reader->ring->size;
		if (full > fullest)
			fullest = full;
		if (load(m, reader))
			vec_push(&m->heap, reader);
	}
	heap_make(&m->heap, is_older);
	return fullest;
}

/* The position after the last returned record. */
static uint64_t taken_up_to(const struct ring_merge_reader *r)
{
	return r->record.bytes ? r->from : r->at;
}

static void release(struct ring_merge_reader *r, uint64_t least)
{
	uint64_t tail = taken_up_to(r);

	if (tail - r->released <= least)
		return;
	perf_ring_release_to(r->ring, tail);
	r->released = tail;
}

static void go_on(struct perf_ring_merge *m)
{
	struct ring_merge_reader *r = m->heap.items[0];

	if (load(m, r))
		heap_settle(&m->heap, is_older);
	else
		heap_pop(&m->heap, is_older);
	release(r, RELEASE_BYTES);
}

bool perf_ring_merge_next(struct perf_ring_merge *m, uint64_t until_ns, struct ring_record *record)
{
	if (m->taken)
		go_on(m);
	m->taken = false;
	if (!m->heap.count || m->heap.items[0]->record.time_ns > until_ns)
		return false;
	*record = m->heap.items[0]->record;
	m->taken = true;
	return true;
}

void perf_ring_merge_end(struct perf_ring_merge *m)
{
	if (m->taken)
		go_on(m);
	m->taken = false;
	vec_each (reader, &m->readers) {
		release(reader, 0);
		if (reader->record.bytes && reader->from == reader->at)
			reader->aside.at -=
			        reader->record.size; /* the record is returned by the next call */
		reader->at = taken_up_to(reader);
		reader->record.bytes = NULL;
	}
}

const uint8_t *perf_ring_merge_hold(struct perf_ring_merge *m)
{
	struct ring_merge_reader *r = m->heap.items[0];

	if (r->from == r->at)
		return r->record.bytes;
	if (r->record.bytes != r->joined)
		memcpy(r->joined, r->record.bytes, r->record.size);
	r->record.bytes = r->joined;
	r->from = r->at;
	return r->joined;
}

/* Copies the record at r->at. False: there is none, or it does not fit. */
static bool put_aside(struct perf_ring_merge *m, struct ring_merge_reader *r)
{
	struct ring_merge_helper_thread *a = &r->aside;
	size_t size = size_in_ring(r);
	uint8_t *into = a->bytes + a->size;

	if (!size || size > helper_thread_room(r) - a->size)
		return false;
	a->size += perf_decoder_compact(m->decoder, bytes_in_ring(r, size, into), size, into);
	r->at += size;
	return true;
}

static bool open_aside(struct ring_merge_reader *r)
{
	void *bytes;

	if (r->aside.bytes)
		return true;
	/* The kernel allocates pages when they are first written. */
	bytes = mmap(NULL, helper_thread_room(r), PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return false;
	r->aside.bytes = bytes;
	return true;
}

static void relieve(struct perf_ring_merge *m, struct ring_merge_reader *r)
{
	bool waits = r->record.bytes && r->from != r->at;

	if (!open_aside(r))
		return;
	r->end = perf_ring_head(r->ring);
	if (waits)
		r->at = r->from; /* this record is copied too */
	while (put_aside(m, r))
		;
	r->from = r->at;
	if (waits)
		load(m, r);
	release(r, 0);
}

void perf_ring_merge_relieve(struct perf_ring_merge *m)
{
	vec_each (reader, &m->readers) {
		bool taken = m->taken && m->heap.items[0] == reader;

		if ((taken && reader->from != reader->at) ||
		    !perf_ring_holds(reader->ring, reader->ring->size / RELIEVED_PART))
			continue;
		relieve(m, reader);
	}
}
