/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/blake2b.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define ROUNDS 12

static const uint64_t initial[8] = {
        0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
        0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* The order of the words in each round; rounds 10 and 11 are the same as 0 and 1. */
static const uint8_t order[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
        {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
        {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
        {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
        {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotate(uint64_t value, unsigned bits)
{
	return value >> bits | value << (64 - bits);
}

/* The mixing function G of the RFC: four values and two words. */
static inline void mix(uint64_t *v, unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x,
                       uint64_t y)
{
	v[a] += v[b] + x;
	v[d] = rotate(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = rotate(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = rotate(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotate(v[b] ^ v[c], 63);
}

static void compress(struct blake2b *b, const uint8_t *block, bool last)
{
	uint64_t v[16], words[16];

	for (unsigned i = 0; i < 16; i++) {
		memcpy(&words[i], block + 8 * i, 8);
		words[i] = le64toh(words[i]);
	}
	memcpy(v, b->chain, sizeof(b->chain));
	memcpy(v + 8, initial, sizeof(initial));
	v[12] ^= b->bytes;
	v[14] ^= last ? UINT64_MAX : 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		const uint8_t *s = order[round % 10];

		mix(v, 0, 4, 8, 12, words[s[0]], words[s[1]]);
		mix(v, 1, 5, 9, 13, words[s[2]], words[s[3]]);
		mix(v, 2, 6, 10, 14, words[s[4]], words[s[5]]);
		mix(v, 3, 7, 11, 15, words[s[6]], words[s[7]]);
		mix(v, 0, 5, 10, 15, words[s[8]], words[s[9]]);
		mix(v, 1, 6, 11, 12, words[s[10]], words[s[11]]);
		mix(v, 2, 7, 8, 13, words[s[12]], words[s[13]]);
		mix(v, 3, 4, 9, 14, words[s[14]], words[s[15]]);
	}
	for (unsigned i = 0; i < 8; i++)
		b->chain[i] ^= v[i] ^ v[i + 8];
}

void blake2b_init(struct blake2b *b)
{
	memset(b, 0, sizeof(*b));
	memcpy(b->chain, initial, sizeof(initial));
	b->chain[0] ^= 0x01010000 ^ BLAKE2B_BYTES; /* no key, no tree */
}

void blake2b_add(struct blake2b *b, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		size_t part = sizeof(b->block) - b->used;

		if (!part) {
			b->bytes += sizeof(b->block);
			compress(b, b->block, false);
			b->used = 0;
			continue;
		}
		part = size < part ? size : part;
		memcpy(b->block + b->used, at, part);
		b->used += part;
		at += part;
		size -= part;
	}
}

void blake2b_add_u64(struct blake2b *b, uint64_t value)
{
	value = htole64(value);
	blake2b_add(b, &value, sizeof(value));
}

void blake2b_end(struct blake2b *b, uint8_t digest[BLAKE2B_BYTES])
{
	memset(b->block + b->used, 0, sizeof(b->block) - b->used);
	b->bytes += b->used;
	compress(b, b->block, true);
	for (unsigned i = 0; i < BLAKE2B_BYTES / 8; i++) {
		uint64_t word = htole64(b->chain[i]);

		memcpy(digest + 8 * i, &word, 8);
	}
}
