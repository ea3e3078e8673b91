/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line: source lines from DWARF's line tables.
 *
 * Addresses are the file's own (vaddr). Nothing is fetched over a network.
 * Not safe for several threads. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_LINE_H
#define ASSAY_SYMBOL_LINE_H

#include "image/elf_file.h"

struct line_reader;

/* NULL: the file has no DWARF. The file must outlive the reader, and not rest. */
struct line_reader *line_reader_new(struct elf_file *f);
void line_reader_free(struct line_reader *r);

/* *file stays good as long as the reader. False: not known. */
bool line_reader_find(struct line_reader *r, uint64_t address, const char **file, int *line);

#endif
