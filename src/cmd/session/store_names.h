/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_names: names for the frames of a measurement under way, for a store to keep.
 *
 * By symbol tables alone: no DWARF, no inlined functions. The kernel's names are read once
 * and held compactly; of programs and libraries one at a time is opened, for as long as its
 * frames are looked up, by a foreign call. Memory is bounded by the largest symbol table.
 *
 *	store_names_new(); store_names_find as store_options.name, with it as name_ctx;
 *	store_names_free()
 *
 * What is not known has no name; nothing fails. The names that one call gave are good until
 * the next. One thread. Uses: base, image, profile, store, symbol.
 */
#ifndef ASSAY_CMD_SESSION_STORE_NAMES_H
#define ASSAY_CMD_SESSION_STORE_NAMES_H

#include "base/process/foreign.h"
#include "store/store.h"

struct store_names;

/*
 * root: where files are looked for, NULL: as recorded. The kernel's names are read here, while
 * there are the rights to: call it before they are given up.
 */
struct store_names *store_names_new(const char *root);
void store_names_free(struct store_names *n); /* NULL-safe */
/* Files are read by foreign calls from now on; NULL: by this process itself. */
void store_names_foreign(void *names, struct foreign *foreign);
store_name_fn store_names_find;

#endif
