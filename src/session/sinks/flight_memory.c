/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory is used as a ring of chunks. A chunk that does not fit before the end starts at 0
 * again.
 *
 *	0 ... head | free | oldest ... end     `wrapped`
 *	0 | free | oldest ... head | free | end
 */
#include "session/sinks/flight_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(65536) /* maximum page size of all machines */
#define RECORD_MAX 65536
#define CHUNKS 32  /* minimum number of chunks in a full memory */
#define SEALED 256 /* minimum size of a sealed chunk: this part of the memory or of the span */

struct flight_memory {
	uint8_t *memory;
	uint64_t bytes, span_ns, chunk_bytes;
	uint64_t head; /* position of the next record */
	uint64_t held; /* total size of the records */
	bool wrapped;  /* head is before the oldest chunk */
	bool open;     /* the last chunk is open */
	size_t first;  /* index of the oldest chunk */
	VEC(struct record_chunk) chunks;
	flight_memory_leave_fn *leave;
	void *ctx;
};

int flight_memory_new(struct flight_memory **out, uint64_t bytes, uint64_t span_ns,
                      flight_memory_leave_fn *leave, void *ctx, struct error *err)
{
	struct flight_memory *r;
	void *memory;

	*out = NULL;
	if (bytes < RECORD_RING_BYTES_MIN)
		bytes = RECORD_RING_BYTES_MIN;
	if (bytes > SIZE_MAX / 2)
		return error_set(err, ENOMEM, "a flight recorder cannot hold that much");
	/* The kernel allocates pages when they are first written. */
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return error_set(err, errno,
		                 "cannot allocate %llu MB of memory for the flight recorder: %s; "
		                 "request less (--ring=64M)",
		                 (unsigned long long)(bytes >> 20), strerror(errno));
	r = xcalloc(1, sizeof(*r));
	r->memory = memory;
	r->bytes = bytes;
	r->span_ns = span_ns;
	r->chunk_bytes = bytes / CHUNKS > RECORD_MAX ? bytes / CHUNKS : RECORD_MAX;
	r->leave = leave;
	r->ctx = ctx;
	*out = r;
	return 0;
}

void flight_memory_free(struct flight_memory *r)
{
	if (!r)
		return;
	for (size_t i = r->first; i < r->chunks.count; i++)
		vec_done(&r->chunks.items[i].lost);
	vec_done(&r->chunks);
	munmap(r->memory, r->bytes);
	free(r);
}

static struct record_chunk *oldest(const struct flight_memory *r)
{
	return &r->chunks.items[r->first];
}

static uint64_t offset_of(const struct flight_memory *r, const struct record_chunk *c)
{
	return (uint64_t)(c->bytes - r->memory);
}

/*
 * With a time span the memory usually is larger than needed, and would be fully allocated before
 * it wraps. Pages of evicted chunks are therefore released. The first page may be shared with the
 * newest chunk, if the memory has wrapped.
 */
static void give_back(const struct flight_memory *r, uint64_t from, uint64_t to)
{
	from = from / PAGE * PAGE;
	if (r->wrapped && r->head > from)
		from = (r->head + PAGE - 1) / PAGE * PAGE;
	to = to / PAGE * PAGE;
	/* A failure only means that the memory stays allocated. */
	if (from < to && madvise(r->memory + from, to - from, MADV_DONTNEED))
		errno = 0;
}

static void drop_oldest(struct flight_memory *r)
{
	struct record_chunk *c = oldest(r);
	uint64_t offset = offset_of(r, c);

	r->leave(r->ctx, c);
	if (r->span_ns)
		give_back(r, offset, offset + c->size);
	r->held -= c->size;
	vec_done(&c->lost);
	r->first++;
	if (r->first == r->chunks.count) {
		r->first = r->chunks.count = 0;
		r->head = 0;
		r->wrapped = r->open = false;
		return;
	}
	if (offset_of(r, oldest(r)) < offset)
		r->wrapped = false;
	/* Reuses the entries of evicted chunks. */
	if (r->first >= 64 && r->first * 2 >= r->chunks.count) {
		r->chunks.count -= r->first;
		memmove(r->chunks.items, r->chunks.items + r->first,
		        r->chunks.count * sizeof(*r->chunks.items));
		r->first = 0;
	}
}

static bool fits(const struct flight_memory *r, size_t size)
{
	return r->head + size <= (r->wrapped ? offset_of(r, oldest(r)) : r->bytes);
}

static void make_room(struct flight_memory *r, size_t size)
{
	while (!fits(r, size)) {
		if (r->wrapped) {
			drop_oldest(r);
			continue;
		}
		r->open = false;
		r->head = 0;
		r->wrapped = r->first < r->chunks.count;
	}
}

static void drop_old(struct flight_memory *r, uint64_t now_ns)
{
	while (r->span_ns && r->first + 1 < r->chunks.count &&
	       oldest(r)->last_ns + r->span_ns < now_ns)
		drop_oldest(r);
}

void flight_memory_add(struct flight_memory *r, const void *record, size_t size, uint64_t time_ns,
                       bool sample)
{
	struct record_chunk *c;

	if (r->open && vec_last(&r->chunks)->size + size > r->chunk_bytes)
		r->open = false;
	make_room(r, size);
	if (!r->open) {
		drop_old(r, time_ns);
		c = vec_add(&r->chunks);
		c->bytes = r->memory + r->head;
		r->open = true;
	}
	c = vec_last(&r->chunks);
	memcpy(r->memory + r->head, record, size);
	r->head += size;
	r->held += size;
	c->size += size;
	c->records++;
	c->samples += sample;
	if (!time_ns)
		return;
	if (!c->first_ns)
		c->first_ns = time_ns;
	if (time_ns > c->last_ns)
		c->last_ns = time_ns;
}

void flight_memory_lost(struct flight_memory *r, uint32_t cpu, uint64_t count)
{
	struct record_chunk *c = vec_last(&r->chunks);

	vec_each (lost, &c->lost)
		if (lost->cpu == cpu) {
			lost->count += count;
			return;
		}
	vec_push(&c->lost, (struct chunk_lost){cpu, count});
}

bool flight_memory_seal(struct flight_memory *r)
{
	const struct record_chunk *c;

	if (!r->open)
		return r->first < r->chunks.count;
	c = vec_last(&r->chunks);
	if (c->size < r->bytes / SEALED &&
	    !(r->span_ns && c->last_ns - c->first_ns >= r->span_ns / SEALED))
		return false;
	r->open = false;
	return true;
}

size_t flight_memory_chunks(const struct flight_memory *r)
{
	return r->chunks.count - r->first;
}

const struct record_chunk *flight_memory_chunk(const struct flight_memory *r, size_t i)
{
	return &r->chunks.items[r->first + i];
}

uint64_t flight_memory_bytes(const struct flight_memory *r)
{
	return r->held;
}

uint64_t flight_memory_bytes_max(const struct flight_memory *r)
{
	return r->bytes;
}
