/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/ring_merge.h"

#include "base/heap.h"
#include "format/perf_data_layout.h"

#include <stdlib.h>

/* Room goes back to the kernel in pieces: each costs the CPU that writes there a cache line. */
#define RELEASE_BYTES (256u << 10)

struct reader {
	struct perf_ring *ring;
	struct ring_record record; /* the next one; bytes NULL: none is left */
	uint64_t at, end;          /* positions in the ring: behind the record, of its head */
	uint64_t released;
	uint8_t *joined; /* a record that goes round the ring's end */
};

struct ring_merge {
	struct perf_decoder *decoder;
	VEC(struct reader) readers;
	VEC(struct reader *) heap; /* oldest record first; readers without one are not in it */
	bool taken;                /* heap[0]'s record was given out */
};

struct ring_merge *ring_merge_new(struct perf_decoder *decoder)
{
	struct ring_merge *m = xcalloc(1, sizeof(*m));

	m->decoder = decoder;
	return m;
}

void ring_merge_add(struct ring_merge *m, struct perf_ring *ring, size_t cpu)
{
	struct reader reader = {.ring = ring, .record.cpu = cpu};

	if (!ring->page)
		return;
	reader.joined = xmalloc(PERF_RECORD_SIZE_MAX + 8);
	vec_push(&m->readers, reader);
}

void ring_merge_free(struct ring_merge *m)
{
	if (!m)
		return;
	vec_each (reader, &m->readers)
		free(reader->joined);
	vec_done(&m->readers);
	vec_done(&m->heap);
	free(m);
}

static const uint8_t *place(const struct reader *r, uint64_t position)
{
	return (const uint8_t *)r->ring->data + (position & (r->ring->size - 1));
}

/* Makes the record at r->at the next one. */
static bool load(struct ring_merge *m, struct reader *r)
{
	const uint8_t *p = place(r, r->at);
	size_t left = (size_t)(r->end - r->at), first;
	uint64_t time_ns;

	r->record.bytes = NULL;
	if (left < PERF_RECORD_HEADER_SIZE)
		return false;
	/* Records are aligned to 8 bytes: a header is never cut. */
	r->record.size = load_u16(p + 6);
	if (r->record.size < PERF_RECORD_HEADER_SIZE || r->record.size > left) {
		r->at = r->end; /* no kernel writes this: what follows cannot be found */
		return false;
	}
	first = (size_t)((const uint8_t *)r->ring->data + r->ring->size - p);
	r->record.bytes = p;
	if (first < r->record.size) {
		memcpy(r->joined, p, first);
		memcpy(r->joined + first, r->ring->data, r->record.size - first);
		r->record.bytes = r->joined;
	}
	time_ns = perf_decoder_time(m->decoder, r->record.bytes, r->record.size);
	if (time_ns > r->record.time_ns)
		r->record.time_ns = time_ns;
	r->at += r->record.size;
	return true;
}

static bool is_older(const struct reader *a, const struct reader *b)
{
	return a->record.time_ns < b->record.time_ns;
}

double ring_merge_begin(struct ring_merge *m)
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

/* The position behind the last record that was given out. */
static uint64_t taken_up_to(const struct reader *r)
{
	return r->record.bytes ? r->at - r->record.size : r->at;
}

static void release(struct reader *r, uint64_t least)
{
	uint64_t tail = taken_up_to(r);

	if (tail - r->released <= least)
		return;
	perf_ring_release_to(r->ring, tail);
	r->released = tail;
}

static void go_on(struct ring_merge *m)
{
	struct reader *r = m->heap.items[0];

	if (load(m, r))
		heap_settle(&m->heap, is_older);
	else
		heap_pop(&m->heap, is_older);
	release(r, RELEASE_BYTES);
}

bool ring_merge_next(struct ring_merge *m, uint64_t until_ns, struct ring_record *record)
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

void ring_merge_end(struct ring_merge *m)
{
	if (m->taken)
		go_on(m);
	m->taken = false;
	vec_each (reader, &m->readers)
		release(reader, 0);
}
