/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_lines: the line table of a unit (DWARF 2 to 5): its rows, and the names of its files.
 *
 * libdw needs 104 bytes of memory for each byte of a line program, and writes a path for each file
 * of the table. Here a row needs 24 bytes until the unit is read and 16 in the tables, and only
 * paths that are used are written. Rows, files and paths have limits (base/limit.h); what is above
 * them is left out. Paths are those of libdw: directory/name, without the directory of
 * the compilation.
 *
 * debug_lines_open(); debug_lines_close() (NULL-safe). The sections belong to the Dwarf, which must
 * outlive this. One thread. Private to symbol/. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_LINES_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_LINES_H

#include "symbol/debug/debug_reader.h"

/* The table of a unit, or of the .dwo that contains it; NULL: it has none, or it is damaged. */
struct debug_lines *debug_lines_open(struct debug_reader *r, struct debug_tables *t,
                                     Dwarf_Die *unit);
void debug_lines_close(struct debug_lines *l);

/*
 * Appends the rows by address; of several rows at one address the last is used. False: some are
 * left out.
 */
bool debug_lines_rows(struct debug_lines *l);

/* The id of the path of a file, by its number in this table; 0: unknown. */
uint32_t debug_lines_file(struct debug_lines *l, uint64_t number);

#endif
