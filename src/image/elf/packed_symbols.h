/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed_symbols: the functions of one image in little memory, for a few lookups.
 *
 * A symbol table of the kernel has 7 MB. A process that runs for weeks looks up a few names in a
 * minute, so it has the functions in compressed blocks, about 10 bytes for a function. A lookup
 * unpacks one block, which takes some microseconds; the next lookup in this block does not.
 *
 * packed_symbols_new(); packed_symbols_find(); packed_symbols_free(). One thread. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_PACKED_SYMBOLS_H
#define ASSAY_IMAGE_ELF_PACKED_SYMBOLS_H

#include "image/elf/symbol_table.h"

struct packed_symbols;

/* From a finished table, which the caller keeps. */
struct packed_symbols *packed_symbols_new(const struct symbol_table *t);
void packed_symbols_free(struct packed_symbols *p); /* NULL-safe */

/*
 * The name of the last function that begins at or before the address, if it contains the address;
 * else NULL. A function of 4 GB or more ends there. Valid until the next call.
 */
const char *packed_symbols_find(struct packed_symbols *p, uint64_t address);

/* The memory that it uses, in bytes. */
size_t packed_symbols_size(const struct packed_symbols *p);

#endif
