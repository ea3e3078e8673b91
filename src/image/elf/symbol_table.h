/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol_table: the functions of one image, sorted by address.
 *
 * symbol_table_init(); symbol_table_add() in any order; symbol_table_finish() once; then lookups;
 * symbol_table_done(). If several symbols have one address, one is kept, by perf's rules: sized
 * before unsized, then strong before weak, global before local, fewer leading underscores, the
 * longer name. Unsized symbols (labels of assembly) extend to the next symbol or to their limit;
 * those inside a sized symbol are dropped. Addresses are the image's own. A lookup takes O(log n).
 * Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_SYMBOL_TABLE_H
#define ASSAY_IMAGE_ELF_SYMBOL_TABLE_H

#include "base/memory/buf.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_subset;

enum symbol_binding { BINDING_LOCAL, BINDING_GLOBAL, BINDING_WEAK };

struct symbol_entry {
	uint64_t start;
	uint64_t end;   /* exclusive; for unsized symbols, the end of their extent */
	size_t name;    /* offset into names */
	uint32_t order; /* position in the order of addition */
	uint8_t binding;
	bool sized;
};

struct symbol_table {
	VEC(struct symbol_entry) entries;
	struct buf names;
	uint64_t *reach;           /* [i]: the largest end among entries 0..i; NULL: none overlap */
	struct symbol_subset *few; /* drops symbols that it does not need; NULL: no filter */
	void *mapped; /* a read-only file that contains entries and names; NULL: none */
	size_t mapped_bytes;
};

#define SYMBOL_NONE SIZE_MAX

void symbol_table_init(struct symbol_table *t);
void symbol_table_done(struct symbol_table *t);

/* Returns true if the symbol would be accepted, so that names of other symbols need not be read. */
bool symbol_table_wants(const struct symbol_table *t, uint64_t start, uint64_t size);

/* size 0: unsized, extends to the next symbol or to `limit`, whichever is first. */
void symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, uint64_t limit,
                      enum symbol_binding binding, const char *name);
void symbol_table_finish(struct symbol_table *t);

/* The innermost entry that contains the address, or SYMBOL_NONE. */
size_t symbol_table_find(const struct symbol_table *t, uint64_t address);
/* The last entry that starts at or before the address; SYMBOL_NONE if there is none. */
size_t symbol_table_before(const struct symbol_table *t, uint64_t address);

static inline const char *symbol_table_name(const struct symbol_table *t, size_t entry)
{
	return t->names.data + t->entries.items[entry].name;
}

#endif
