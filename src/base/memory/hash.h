/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash: hashes, and a table from hashes to ids.
 *
 * An id_table holds no keys: the caller keeps items in an array, and the table finds the id whose
 * item equals a key. Ids are 32 bits, dense, and chosen by the caller. The table uses open
 * addressing with a load of at most 1/2. Single items cannot be removed.
 */
#ifndef ASSAY_BASE_MEMORY_HASH_H
#define ASSAY_BASE_MEMORY_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_NONE UINT32_MAX

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(a) ^ (b * 0x9e3779b97f4a7c15u));
}

uint64_t hash_bytes(const void *bytes, size_t size);

struct id_slot {
	uint32_t hash; /* upper half of the hash; avoids most comparisons */
	uint32_t id;   /* ID_NONE: free */
};

struct id_table {
	struct id_slot *slots;
	size_t mask; /* slots - 1 */
	size_t count;
};

typedef bool id_equal_fn(const void *ctx, uint32_t id, const void *key);

/* The id of the item that equals key, or ID_NONE. */
uint32_t id_table_find(const struct id_table *t, uint64_t hash, id_equal_fn *equal, const void *ctx,
                       const void *key);
/* Prefetches the slot that id_table_find() reads first. */
void id_table_prefetch(const struct id_table *t, uint64_t hash);
/* Adds an id that is not in the table. */
void id_table_add(struct id_table *t, uint64_t hash, uint32_t id);
/* Removes all ids; keeps the memory. */
void id_table_clear(struct id_table *t);
void id_table_done(struct id_table *t);

#endif
