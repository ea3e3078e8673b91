/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_memory: the last records of a measurement, in memory of a fixed size.
 *
 * Records stand whole and in the order in which they were added, in chunks. When there is no
 * room, or the span is over, the oldest chunk leaves: whoever made the ring is shown its
 * records first. A chunk ends when it is a part of the memory large, or when it is sealed: so
 * that the ring may begin at a moment of which something is known.
 *
 *	flight_memory_new()	takes the memory at once; -ENOMEM: it is not to be had
 *	flight_memory_add()	one record
 *	flight_memory_seal()	the next record begins a chunk
 *	flight_memory_chunk()	0: the oldest; good until the next _add
 *	flight_memory_free()	NULL-safe
 *
 * Never more than the bytes asked for; beside them some words a chunk, of which there are
 * hundreds at most. Times in ns, sizes in bytes. One thread. Uses: base.
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
	VEC(struct chunk_lost) lost; /* as its records tell */
};

struct flight_memory;

/* A chunk is about to leave; it must not be added to. */
typedef void flight_memory_leave_fn(void *ctx, const struct record_chunk *chunk);

/* span_ns 0: until there is no room. */
int flight_memory_new(struct flight_memory **r, uint64_t bytes, uint64_t span_ns,
                      flight_memory_leave_fn *leave, void *ctx, struct error *err);
void flight_memory_free(struct flight_memory *r);

/* size: at most 64 KB; time_ns 0: it has none. */
void flight_memory_add(struct flight_memory *r, const void *record, size_t size, uint64_t time_ns,
                       bool sample);
/* The record added last tells of records that were lost. */
void flight_memory_lost(struct flight_memory *r, uint32_t cpu, uint64_t count);
/* True if the chunk under way has grown enough to be worth an end, and was ended. */
bool flight_memory_seal(struct flight_memory *r);

size_t flight_memory_chunks(const struct flight_memory *r);
const struct record_chunk *flight_memory_chunk(const struct flight_memory *r, size_t i);
uint64_t flight_memory_bytes(const struct flight_memory *r);     /* of records, held now */
uint64_t flight_memory_bytes_max(const struct flight_memory *r); /* of the memory */

#endif
