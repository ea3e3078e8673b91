/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blake2b: the BLAKE2b digest (RFC 7693), 32 bytes, for bytes that an attacker may choose. A
 * collision cannot be constructed, unlike with hash_bytes(), which is for tables in memory.
 *
 * Call blake2b_init(), then blake2b_add() any number of times, then blake2b_end() once. No call
 * allocates memory or fails. A state belongs to one thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_MEMORY_BLAKE2B_H
#define ASSAY_BASE_MEMORY_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_BYTES 32

struct blake2b {
	uint64_t chain[8];
	uint64_t bytes; /* compressed so far */
	uint8_t block[128];
	size_t used; /* bytes in the block; a full block is kept, since it may be the last block,
	                which is marked */
};

void blake2b_init(struct blake2b *b);
void blake2b_add(struct blake2b *b, const void *bytes, size_t size);
/* A number as 8 bytes, little endian. */
void blake2b_add_u64(struct blake2b *b, uint64_t value);
void blake2b_end(struct blake2b *b, uint8_t digest[BLAKE2B_BYTES]);

#endif
