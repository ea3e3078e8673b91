/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/hash.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

/*
 * One multiplication for each word; each step is a bijection. The result is mixed once, at the end.
 */
static uint64_t take_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	uint64_t h = size * 0x9e3779b97f4a7c15u;
	uint64_t word;

	for (; size >= 8; p += 8, size -= 8) {
		memcpy(&word, p, 8);
		h = take_word(h, word);
	}
	word = 0;
	if (size)
		memcpy(&word, p, size);
	return hash_u64(take_word(h, word));
}

/*
 * The slot index is the low bits of the hash and the tag is the high bits. The whole hash is not
 * stored. A table that grows needs the low bits again, so they are computed from the tag; this is
 * why both use the same 32 bits.
 */
static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash ^ (hash >> 32));
}

static void id_table_insert(struct id_table *t, uint32_t tag, uint32_t id)
{
	size_t i = hash_u64(tag) & t->mask;

	while (t->slots[i].id != ID_NONE)
		i = (i + 1) & t->mask;
	t->slots[i] = (struct id_slot){tag, id};
}

static void id_table_grow(struct id_table *t)
{
	struct id_table old = *t;
	size_t room = old.slots ? (old.mask + 1) * 2 : 64;

	t->slots = xrealloc(NULL, room, sizeof(*t->slots));
	t->mask = room - 1;
	memset(t->slots, 0xff, room * sizeof(*t->slots));
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].id != ID_NONE)
			id_table_insert(t, old.slots[i].hash, old.slots[i].id);
	free(old.slots);
}

uint32_t id_table_find(const struct id_table *t, uint64_t hash, id_equal_fn *equal, const void *ctx,
                       const void *key)
{
	uint32_t tag = tag_of(hash);

	if (!t->slots)
		return ID_NONE;
	for (size_t i = hash_u64(tag) & t->mask; t->slots[i].id != ID_NONE; i = (i + 1) & t->mask)
		if (t->slots[i].hash == tag && equal(ctx, t->slots[i].id, key))
			return t->slots[i].id;
	return ID_NONE;
}

void id_table_prefetch(const struct id_table *t, uint64_t hash)
{
	if (t->slots)
		__builtin_prefetch(&t->slots[hash_u64(tag_of(hash)) & t->mask]);
}

void id_table_add(struct id_table *t, uint64_t hash, uint32_t id)
{
	if (!t->slots || t->count * 2 > t->mask)
		id_table_grow(t);
	id_table_insert(t, tag_of(hash), id);
	t->count++;
}

void id_table_clear(struct id_table *t)
{
	for (size_t i = 0; t->slots && i <= t->mask; i++)
		t->slots[i].id = ID_NONE;
	t->count = 0;
}

void id_table_done(struct id_table *t)
{
	free(t->slots);
	*t = (struct id_table){0};
}
