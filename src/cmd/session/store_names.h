/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_names: names of frames for a store, while a measurement runs.
 *
 * Only symbol tables are used: no DWARF, no inlined functions. The kernel's names are read once and
 * kept compressed. Programs and libraries are opened one at a time by a foreign call, while their
 * frames are looked up. Memory is bounded by the largest symbol table.
 *
 * store_names_new(); store_names_find() as store_options.name, with the object as name_ctx;
 * store_names_free().
 *
 * An unknown frame has no name; no function fails. The names of a call are valid until the next
 * call. One thread. Uses: base, image, profile, store, symbol.
 */
#ifndef ASSAY_CMD_SESSION_STORE_NAMES_H
#define ASSAY_CMD_SESSION_STORE_NAMES_H

#include "base/process/foreign.h"
#include "store/store.h"

struct store_names;

/*
 * root: prefix of files, NULL: none. The kernel's names are read here, so call it before rights are
 * dropped.
 */
struct store_names *store_names_new(const char *root);
void store_names_free(struct store_names *n); /* NULL-safe */
/* From now on files are read by foreign calls; NULL: by this process. */
void store_names_foreign(void *names, struct foreign *foreign);
store_name_fn store_names_find;

#endif
