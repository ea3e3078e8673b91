/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_index_internal: shared by the files of debug_index: the tables, in the form that is also
 * written to the cache. Life cycle, errors and threads are those of debug_index.h. Uses: base,
 * image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_INTERNAL_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_INDEX_INTERNAL_H

#include "base/memory/intern.h"
#include "symbol/debug/debug_index.h"
#include "symbol/debug/debug_segment.h"

/* An inlined call. */
struct debug_node {
	uint32_t parent; /* the enclosing call, with a smaller id; ID_NONE: the function itself */
	uint32_t name, call_file; /* strings; 0: unknown */
	uint32_t call_line;
};

/* A row is valid from `start` to the next row. */
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
 * Reads the tables of the file with `identity`. False: there are none, or they are damaged; the
 * tables are then empty.
 */
bool debug_cache_load(struct debug_tables *t, struct cache_dir *cache, const char *name,
                      uint64_t identity);
void debug_cache_keep(const struct debug_tables *t, struct cache_dir *cache, const char *name,
                      uint64_t identity);

/* A variable with a fixed place. */
struct debug_variable {
	uint64_t address, entry; /* of the file; offset of the entry in .debug_info */
};
typedef VEC(struct debug_variable) debug_variables;

struct debug_reader; /* reads the DWARF of a file */

/* The work that was done for a file so far. */
struct debug_work {
	uint64_t steps, cpu_ns;
	bool exhausted; /* a limit is reached: no further work is done */
};

struct debug_reader *debug_reader_new(struct elf_file *f, struct debug_missing *missing,
                                      struct debug_work *work);
void debug_reader_free(struct debug_reader *r);
/* Reads the units and the map of their ranges. */
void debug_reader_units(struct debug_reader *r, struct debug_tables *t);
/* Builds the tables of a unit from all entries that can be read. */
void debug_reader_build(struct debug_reader *r, struct debug_tables *t, uint32_t unit);
/* Appends all variables, by address. */
void debug_reader_variables(struct debug_reader *r, debug_variables *out);
/* debug_index_member() for the variable of an entry. */
void debug_reader_member(struct debug_reader *r, uint64_t entry, uint64_t object, uint64_t *offset,
                         struct buf *out);

#endif
