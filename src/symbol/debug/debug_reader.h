/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_reader: reads DWARF to build the tables of debug_index, within the limits of that work.
 * Life cycle, errors and threads are those of debug_index.h. Private to symbol/. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_READER_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_READER_H

#include "base/read/file_map.h"
#include "symbol/debug/debug_index_internal.h"

#include <elfutils/libdw.h>

/* Maps a pointer from libdw, which stays valid, to the id of its string. */
struct debug_memo {
	struct id_table index;
	VEC(const void *) keys;
	VEC(uint32_t) ids;
};

/* A unit whose entry has no ranges of its code. */
struct debug_bare_unit {
	uint64_t offset; /* of its entry */
	uint32_t id;     /* among the tables' units; ID_NONE: none yet */
};

struct debug_reader {
	Dwarf *dwarf;
	Elf *elf;            /* own handle over `bytes`; NULL: the handle of the file is used */
	struct file_map map; /* the mapped file; zeros: the file is read */
	void *bytes;         /* an unpacked copy of the file; NULL: none */
	size_t size;
	char *path; /* of the file, links resolved: libdw searches other files beside it; or NULL */
	struct file_namer namer; /* of paths in the file */
	struct error denied;     /* the last path that its namer may not read */
	struct debug_missing *missing;
	struct debug_memo names;
	struct debug_spans spans;         /* scratch */
	VEC(struct debug_bare_unit) bare; /* scratch, by offset */
	struct debug_work *work;
	uint64_t cpu_start_ns, memory; /* bytes of this process before libdw read anything */
};

/* Around the work for one question; the time since its begin. */
void debug_reader_begin(struct debug_reader *r);
void debug_reader_end(struct debug_reader *r);
uint64_t debug_reader_time_ns(const struct debug_reader *r);
/* Counts steps of work; false: a limit is reached. */
bool debug_reader_spend(struct debug_reader *r, uint64_t steps);

/* The id of a string from libdw; `key`: the entry that it belongs to. NULL: 0. */
uint32_t debug_memo_string(struct debug_memo *m, struct intern *strings, const void *key,
                           const char *text);
uint32_t debug_memo_find(const struct debug_memo *m, const void *key); /* or ID_NONE */

/* False: the entry has no such attribute, or it is no number. */
bool debug_entry_number(Dwarf_Die *die, unsigned name, uint64_t *number);
/* True if libdw can skip each entry of the unit in bounded time. */
bool debug_entries_are_small(struct debug_reader *r, Dwarf_Die *unit);

struct debug_lines; /* debug_lines.h */

/*
 * Walks over a unit: its entry, or with split DWARF the entry in its .dwo, if that exists. `lines`
 * has its files; NULL: none.
 */
void debug_walk_inlines(struct debug_reader *r, struct debug_tables *t, Dwarf_Die *unit,
                        struct debug_unit *u, struct debug_lines *lines);

#endif
