/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_memory: the newest records of a measurement, in memory of a fixed size.
 *
 * Records are stored complete and in the order in which they were added, in chunks. If the memory
 * is full, or the time span is exceeded, the oldest chunk is evicted; a callback gets its records
 * first. A chunk ends at a certain size, or when it is sealed, so that the memory starts at a
 * moment for which a mark exists.
 *
 *	flight_memory_new()	allocates the memory; -ENOMEM
 *	flight_memory_add()	adds one record
 *	flight_memory_seal()	the next record starts a chunk
 *	flight_memory_chunk()	0: the oldest; valid until the next _add
 *	flight_memory_free()	NULL-safe
 *
 * Records use at most the given number of bytes; there are some additional bytes per chunk, with at
 * most hundreds of chunks. Times in ns, sizes in bytes. One thread. Uses: base.
 */
#ifndef ASSAY_SESSION_SINKS_FLIGHT_MEMORY_H
#define ASSAY_SESSION_SINKS_FLIGHT_MEMORY_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_RING_BYTES_MIN (UINT64_C(1) << 20)

struct chunk_lost {
	uint32_t cpu;
	uint64_t count;
};

struct record_chunk {
	const uint8_t *bytes;
	size_t size;
	uint64_t first_ns, last_ns; /* of its records that have a time */
	uint64_t records, samples;
	VEC(struct chunk_lost) lost; /* as reported by its records */
};

struct flight_memory;

/* Called before a chunk is evicted; it must not add records. */
typedef void flight_memory_leave_fn(void *ctx, const struct record_chunk *chunk);

/* span_ns 0: chunks are evicted only if the memory is full. */
int flight_memory_new(struct flight_memory **r, uint64_t bytes, uint64_t span_ns,
                      flight_memory_leave_fn *leave, void *ctx, struct error *err);
void flight_memory_free(struct flight_memory *r);

/* size: at most 64 KB; time_ns 0: none. */
void flight_memory_add(struct flight_memory *r, const void *record, size_t size, uint64_t time_ns,
                       bool sample);
/* The last added record reports lost records. */
void flight_memory_lost(struct flight_memory *r, uint32_t cpu, uint64_t count);
/* Ends the current chunk if it is large enough; true if it was ended. */
bool flight_memory_seal(struct flight_memory *r);

size_t flight_memory_chunks(const struct flight_memory *r);
const struct record_chunk *flight_memory_chunk(const struct flight_memory *r, size_t i);
uint64_t flight_memory_bytes(const struct flight_memory *r);     /* size of the records in memory */
uint64_t flight_memory_bytes_max(const struct flight_memory *r); /* size of the memory */

#endif
