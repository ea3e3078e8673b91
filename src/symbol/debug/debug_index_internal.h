/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_index_internal: what the parts of debug_index share: the tables, as
 * they are also written to the cache. Life cycle, errors and threads are those
 * of debug_index.h. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_INTERNAL_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_INTERNAL_H

#include "base/memory/intern.h"
#include "symbol/debug/debug_index.h"
#include "symbol/debug/debug_segment.h"

/* A call that was inlined. */
struct debug_node {
	uint32_t parent; /* the call around it, a smaller id; ID_NONE: the function itself */
	uint32_t name, call_file; /* strings; 0: not known */
	uint32_t call_line;
};

/* From start on, until the next row. */
struct debug_row {
	uint64_t start;
	uint32_t file; /* string */
	uint32_t line; /* 0: no line */
};

enum debug_state { UNIT_NEW, UNIT_BUILT };

struct debug_unit {
	uint64_t offset; /* of its entry in .debug_info */
	uint32_t state;
	uint32_t first_segment, segments; /* values: nodes */
	uint32_t first_row, rows;
	uint32_t unused;
};

struct debug_tables {
	struct debug_segments map; /* values: units */
	VEC(struct debug_unit) units;
	struct debug_segments segments;
	VEC(struct debug_node) nodes;
	VEC(struct debug_row) rows;
	struct intern strings;
};

void debug_tables_init(struct debug_tables *t);
void debug_tables_done(struct debug_tables *t);

/*
 * Reads tables that were made from the file that `identity` stands for; false
 * (and empty tables) where there are none, or they are damaged.
 */
bool debug_cache_load(struct debug_tables *t, struct cache_dir *cache, const char *name,
                      uint64_t identity);
void debug_cache_keep(const struct debug_tables *t, struct cache_dir *cache, const char *name,
                      uint64_t identity);

struct debug_reader; /* DWARF being read */

/* What was done for a file so far. */
struct debug_work {
	uint64_t steps, cpu_ns;
	bool exhausted; /* the bounds are reached: no more is done */
};

struct debug_reader *debug_reader_new(struct elf_file *f, struct debug_missing *missing,
                                      struct debug_work *work);
void debug_reader_free(struct debug_reader *r);
/* The units and the map of their ranges. */
void debug_reader_units(struct debug_reader *r, struct debug_tables *t);
/* Fills a unit's tables with as much as can be read. */
void debug_reader_build(struct debug_reader *r, struct debug_tables *t, uint32_t unit);

#endif
