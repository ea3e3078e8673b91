/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_bounds: checks debug information before libdw reads it, since libdw allocates what a file
 * demands: for unpacked sections, units and abbreviations. Limits are in base/limit.h.
 *
 * No state is held. Any thread. Private to symbol/. Uses: base.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_BOUNDS_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_BOUNDS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the sections of a file of that size can be unpacked. */
bool debug_bounds_unpacked(Elf *elf, uint64_t file_bytes);
/* True if the numbers of units and of abbreviations of each unit are within the limits. */
bool debug_bounds_units(Dwarf *dwarf, bool dwo);
/* Both, for another open file of debug information (.dwo, .dwp, dwz). */
bool debug_bounds_file(int fd, bool dwo);

/* Bytes of memory of this process that are not pages of files; 0: unknown. */
uint64_t debug_bounds_memory(void);

struct debug_section {
	const uint8_t *bytes; /* never NULL; size 0: there is none */
	size_t size;
};

/* A section, "line" for .debug_line, which libdw has unpacked. `dwo`: .debug_line.dwo. */
struct debug_section debug_section_of(Dwarf *dwarf, const char *name, bool dwo);

#endif
