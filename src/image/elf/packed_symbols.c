/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/packed_symbols.h"

#include "base/memory/sorted.h"

#include <string.h>
#include <zstd.h>

#define BLOCK_FUNCTIONS 256
#define LEVEL 1

/* In a block, before the names; `begin` counts from the block's first function. */
struct function {
	uint32_t begin, size;
};

struct block {
	uint64_t start; /* of its first function */
	size_t at;      /* of its compressed bytes */
	uint32_t packed, unpacked, count;
};

struct packed_symbols {
	VEC(struct block) blocks;
	struct buf bytes;
	size_t current; /* block in `functions` and `names`; SYMBOL_NONE: none */
	struct function functions[BLOCK_FUNCTIONS];
	struct buf names;
};

/* ---- packing ------------------------------------------------------------- */

static uint32_t size_of(const struct symbol_entry *e)
{
	return e->end - e->start < UINT32_MAX ? (uint32_t)(e->end - e->start) : UINT32_MAX;
}

/* The number of entries from `first` that go into one block. */
static uint32_t block_count(const struct symbol_table *t, size_t first)
{
	uint32_t count = 0;

	while (count < BLOCK_FUNCTIONS && first + count < t->entries.count &&
	       t->entries.items[first + count].start - t->entries.items[first].start <= UINT32_MAX)
		count++;
	return count;
}

static void fill(struct buf *into, const struct symbol_table *t, size_t first, uint32_t count)
{
	const struct symbol_entry *e = &t->entries.items[first];

	buf_clear(into);
	for (uint32_t i = 0; i < count; i++) {
		struct function f = {(uint32_t)(e[i].start - e->start), size_of(&e[i])};

		buf_add(into, &f, sizeof(f));
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *name = symbol_table_name(t, first + i);

		buf_add(into, name, strlen(name) + 1);
	}
}

/* Appends the plain bytes, compressed; returns the number of bytes. */
static uint32_t pack(struct packed_symbols *p, ZSTD_CCtx *zstd, const struct buf *plain)
{
	size_t at = p->bytes.size, bound = ZSTD_compressBound(plain->size), got;

	buf_pad(&p->bytes, '\0', bound);
	got = ZSTD_compressCCtx(zstd, p->bytes.data + at, bound, plain->data, plain->size, LEVEL);
	if (ZSTD_isError(got))
		got = 0; /* the block has no names */
	p->bytes.size = at + got;
	return (uint32_t)got;
}

static void pack_all(struct packed_symbols *p, ZSTD_CCtx *zstd, const struct symbol_table *t)
{
	struct buf plain = {0};
	uint32_t count;

	for (size_t first = 0; first < t->entries.count; first += count) {
		struct block b = {.start = t->entries.items[first].start, .at = p->bytes.size};

		b.count = count = block_count(t, first);
		fill(&plain, t, first, count);
		b.unpacked = (uint32_t)plain.size;
		b.packed = pack(p, zstd, &plain);
		vec_push(&p->blocks, b);
	}
	buf_done(&plain);
}

struct packed_symbols *packed_symbols_new(const struct symbol_table *t)
{
	struct packed_symbols *p = xcalloc(1, sizeof(*p));
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	p->current = SYMBOL_NONE;
	if (!zstd)
		return p;
	pack_all(p, zstd, t);
	ZSTD_freeCCtx(zstd);
	/* The buffer, which grew by doubling, gives back what it does not need. */
	p->bytes.room = p->bytes.size + 1;
	p->bytes.data = xrealloc(p->bytes.data, p->bytes.room, 1);
	return p;
}

void packed_symbols_free(struct packed_symbols *p)
{
	if (!p)
		return;
	vec_done(&p->blocks);
	buf_done(&p->bytes);
	buf_done(&p->names);
	free(p);
}

/* ---- lookups ------------------------------------------------------------- */

static bool unpack(struct packed_symbols *p, size_t index)
{
	const struct block *b = &p->blocks.items[index];
	size_t functions = b->count * sizeof(struct function);

	if (p->current == index)
		return true;
	p->current = SYMBOL_NONE;
	buf_clear(&p->names);
	buf_pad(&p->names, '\0', b->unpacked);
	if (ZSTD_decompress(p->names.data, b->unpacked, p->bytes.data + b->at, b->packed) !=
	    b->unpacked)
		return false;
	memcpy(p->functions, p->names.data, functions);
	p->current = index;
	return true;
}

const char *packed_symbols_find(struct packed_symbols *p, uint64_t address)
{
	size_t begun = sorted_count(i, p->blocks.count, p->blocks.items[i].start <= address);
	const struct block *b;
	const char *name;
	size_t before;

	if (!begun || !unpack(p, begun - 1))
		return NULL;
	b = &p->blocks.items[begun - 1];
	/* The first one of the block begins at or before the address. */
	before = sorted_count(i, b->count, b->start + p->functions[i].begin <= address) - 1;
	if (address - b->start - p->functions[before].begin >= p->functions[before].size)
		return NULL;
	name = p->names.data + b->count * sizeof(struct function);
	for (size_t i = 0; i < before; i++)
		name += strlen(name) + 1;
	return name;
}

size_t packed_symbols_size(const struct packed_symbols *p)
{
	return sizeof(*p) + p->blocks.room * sizeof(*p->blocks.items) + p->bytes.room +
	       p->names.room;
}
