/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol_subset: selects the symbols of a file that determine the names of a few addresses.
 *
 * A lookup of a few addresses in a large file does not need a table of all symbols. The caller
 * passes all symbols twice. The first pass finds the symbols that cover an address or are next to
 * it; the second pass adds them to the table. The resulting table has the same answers for these
 * addresses as a full table. If that is uncertain (labels, which extend to the next symbol), all
 * symbols are needed.
 *
 *	f = symbol_subset_new(addresses, count)
 *	table.few = f; add all symbols: none is accepted
 *	symbol_subset_first_pass_done(f)
 *	add all symbols again: some are accepted; then check symbol_subset_needs_full_table(f)
 *	in both passes, symbols for which symbol_subset_may_want() is false may be left out
 *	symbol_subset_free(f)
 *
 * One thread. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_SYMBOL_SUBSET_H
#define ASSAY_IMAGE_ELF_SYMBOL_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_subset;

struct symbol_subset *symbol_subset_new(const uint64_t *addresses, size_t count);
void symbol_subset_free(struct symbol_subset *f); /* NULL-safe */

/* Returns true if this symbol is needed; in the first pass always false. */
bool symbol_subset_wants(struct symbol_subset *f, uint64_t start, uint64_t size);
void symbol_subset_first_pass_done(struct symbol_subset *f);
/* In the first pass: requests all symbols, for a reason that the caller knows. */
void symbol_subset_take_all(struct symbol_subset *f);
/* In the second pass: a symbol of the first pass has no name that counts. */
void symbol_subset_doubt(struct symbol_subset *f);
/* After the second pass: the subset is not sufficient, and a full table must be built. */
bool symbol_subset_needs_full_table(const struct symbol_subset *f);
/*
 * False if symbols in [start, start + size) would change nothing: the caller may skip them without
 * reading their names.
 */
bool symbol_subset_may_want(const struct symbol_subset *f, uint64_t start, uint64_t size);
/* True if one of the addresses is in [start, start + size). */
bool symbol_subset_inside(const struct symbol_subset *f, uint64_t start, uint64_t size);

#endif
