/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_index: source lines and inlined functions of addresses, and members of variables, from
 * DWARF.
 *
 * The ranges of all units are read first. The tables of a unit are built at the first query for one
 * of its addresses, by one walk over its entries and its line program; they are plain sorted
 * arrays. With a cache, tables are stored under the file's build-id; they are checked in full when
 * they are read. DWARF is not read if the cached tables answer all queries.
 *
 * DWARF may be malicious: the work is limited by number of entries, depth and CPU time. Parts that
 * are left out because of a limit, or because they are in missing files (split DWARF, dwz), are
 * counted. Addresses are those of the file (vaddr).
 *
 * debug_index_new(), queries, debug_index_free() (NULL-safe), which writes new tables to the cache.
 * The file and the cache must outlive the index. One thread. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_H

#include "base/file/cache_dir.h"
#include "image/elf/elf_file.h"

#define DEBUG_INLINES_MAX 64 /* longer chains are truncated at their outer end */

struct debug_index;

/* A function that was inlined at an address, and where it was called. */
struct debug_inline {
	uint32_t name_id;      /* dense; equal names have equal ids */
	const char *name;      /* the linkage name if DWARF has it */
	const char *call_file; /* "": unknown */
	int call_line;         /* 0: unknown */
};

struct debug_missing {
	uint64_t units;       /* number of units whose tables are missing or incomplete */
	uint64_t names;       /* number of names of inlined functions that are in missing files */
	struct error refused; /* a file whose namer may not read it; code 0: none */
};

/*
 * NULL: the file has no DWARF. `name`: the cache key of the tables; NULL: they are not cached.
 * `all_bytes`: the size of the tables of all files that share it, which has a limit; NULL: none.
 * Returned strings are valid during the life of the index.
 */
struct debug_index *debug_index_new(struct elf_file *f, struct cache_dir *cache, const char *name,
                                    uint64_t *all_bytes);
void debug_index_free(struct debug_index *x);

bool debug_index_line(struct debug_index *x, uint64_t address, const char **file, int *line);

/* The inlined functions at an address, innermost first. Returns their number, at most `max`. */
size_t debug_index_inlines(struct debug_index *x, uint64_t address, struct debug_inline *out,
                           size_t max);

/*
 * Appends the member at *offset of the variable that begins at an address, as ".lock" or
 * ".workers[3].lock", and subtracts what it named from *offset. Objects of at most `object` bytes,
 * and members of libraries, are not divided. Appends nothing: DWARF has no such variable.
 */
void debug_index_member(struct debug_index *x, uint64_t variable, uint64_t object, uint64_t *offset,
                        struct buf *out);

/*
 * _is_awake(): the index holds the file open and DWARF in memory. _rest() releases both until they
 * are needed again; earlier answers stay valid.
 */
bool debug_index_is_awake(const struct debug_index *x);
void debug_index_rest(struct debug_index *x);

const struct debug_missing *debug_index_missing(const struct debug_index *x);

#endif
