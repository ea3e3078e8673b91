/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit: names, code and lines of generated code, for the symbolizer.
 *
 * An address in such an image is the offset of a frame: the number of a function in the
 * upper half, the offset in the function in the lower half. Private to symbol/. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_JIT_H
#define ASSAY_SYMBOL_JIT_H

#include "image/jit_code.h"
#include "symbol/symbolizer_internal.h"

/* The address of a frame, with the number of the function's first appearance. */
uint64_t jit_address(const struct image *image, uint64_t offset);
/* The number of the function at such an address; ID_NONE: it has no name. */
uint32_t jit_entry_at(const struct image *image, uint64_t address);
/* An array with one symbol per entry, zeroed. */
/* Room for the symbols of all entries; `symbols` has room for `count` and is freed. */
struct symbol **jit_symbols(const struct image *image, struct symbol **symbols, size_t *count);
bool jit_line(const struct image *image, uint64_t offset, const char **file, int *line);
int jit_bytes(const struct image *image, uint8_t *bytes, struct symbol_code *code,
              struct error *err);
/*
 * The reason why names are missing or uncertain, malloc'd; NULL: no problem. Also for anonymous
 * memory.
 */
char *jit_trouble(const struct image_table *images, uint32_t image);

#endif
