/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_index: what DWARF says of addresses: source lines, and the functions
 * that were inlined there.
 *
 * First the units' ranges are read; a unit's tables are made when the first
 * of its addresses is asked for, by one walk over its entries and its line
 * program, and are then plain sorted arrays. With a cache, tables once made
 * are kept under the file's build-id and read again, checked in full; the
 * DWARF is not touched where all that is asked for is in them.
 *
 * DWARF may be made to harm: the work is bounded by entries, by depth and by
 * CPU time; what was left out because of that, or because a part of it lies in
 * files that are not there (split DWARF, dwz), is counted. Addresses are the
 * file's own (vaddr).
 *
 * debug_index_new / debug_index_free, NULL-safe; free writes to the cache what
 * is new. The file and the cache must outlive it. Not safe for several
 * threads. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_H

#include "base/file/cache_dir.h"
#include "image/elf/elf_file.h"

#define DEBUG_INLINES_MAX 64 /* deeper chains are cut at their outer end */

struct debug_index;

/* A function that was inlined at an address, and where it was called. */
struct debug_inline {
	uint32_t name_id;      /* dense; equal names have equal ids */
	const char *name;      /* as the linker knows it where DWARF says that */
	const char *call_file; /* "": not known */
	int call_line;         /* 0: not known */
};

struct debug_missing {
	uint64_t units; /* whose tables could not be made, or not in full */
	uint64_t names; /* of inlined functions that are in no file that is there */
};

/*
 * NULL: the file has no DWARF. `name` is what the tables are kept under, NULL:
 * not kept. Strings given out stay good as long as the index.
 */
struct debug_index *debug_index_new(struct elf_file *f, struct cache_dir *cache, const char *name);
void debug_index_free(struct debug_index *x);

bool debug_index_line(struct debug_index *x, uint64_t address, const char **file, int *line);

/* Innermost first; the number of them, at most `max`. */
size_t debug_index_inlines(struct debug_index *x, uint64_t address, struct debug_inline *out,
                           size_t max);

/*
 * Whether it holds the file open and DWARF in memory; and lets go of both
 * until they are needed again. The answers given so far stay good.
 */
bool debug_index_is_awake(const struct debug_index *x);
void debug_index_rest(struct debug_index *x);

const struct debug_missing *debug_index_missing(const struct debug_index *x);

#endif
