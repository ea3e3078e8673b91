/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blake2b: BLAKE2b (RFC 7693) of bytes that others may choose, 32 bytes long. Two inputs of one
 * digest cannot be made, unlike with hash_bytes(), which is for tables in memory.
 *
 * blake2b_init(), blake2b_add() as often as wanted, blake2b_end() once. Nothing is allocated,
 * nothing fails. A state belongs to one thread. Uses: nothing of ours.
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
	size_t used; /* of the block; a full one waits for more, as the last one is marked */
};

void blake2b_init(struct blake2b *b);
void blake2b_add(struct blake2b *b, const void *bytes, size_t size);
/* A number as 8 bytes, little endian. */
void blake2b_add_u64(struct blake2b *b, uint64_t value);
void blake2b_end(struct blake2b *b, uint8_t digest[BLAKE2B_BYTES]);

#endif
