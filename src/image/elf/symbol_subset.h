/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol_subset: which symbols of a file matter to a few addresses.
 *
 * Whoever names a handful of new places of a large file needs no table of all its symbols. They
 * are gone over twice: the first time to see what stands around and next to the addresses, the
 * second time to take those. What a table of them says of the addresses is what a table of all
 * would say; where that is not sure (labels, which reach as far as the next symbol), all are taken.
 *
 *	f = symbol_subset_new(addresses, count)
 *	table.few = f; all symbols are added, none is taken
 *	symbol_subset_first_pass_done(f)
 *	all symbols are added again, and some are taken; symbol_subset_needs_full_table(f)?
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

/* Is such a symbol to be added? While scouting: never. */
bool symbol_subset_wants(struct symbol_subset *f, uint64_t start, uint64_t size);
void symbol_subset_first_pass_done(struct symbol_subset *f);
/* While scouting: all symbols are needed for another reason. */
void symbol_subset_take_all(struct symbol_subset *f);
/* After the second time: it cannot be told from few, a table of all has to be made. */
bool symbol_subset_needs_full_table(const struct symbol_subset *f);
/* One of the addresses is in [start, start + size). */
bool symbol_subset_inside(const struct symbol_subset *f, uint64_t start, uint64_t size);

#endif
