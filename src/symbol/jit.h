/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit: names, code and lines of generated code, for the symbolizer.
 *
 * Addresses of such an image are those in frames: a function's number in the
 * upper half, the offset in it in the lower. Private to symbol/. Uses: base,
 * image.
 */
#ifndef ASSAY_SYMBOL_JIT_H
#define ASSAY_SYMBOL_JIT_H

#include "image/jit_code.h"
#include "symbol/symbolizer_internal.h"

/* The address of a frame: that of the function's first appearance. */
uint64_t jit_address(const struct image *image, uint64_t offset);
/* The number of the function at such an address; ID_NONE: it has no name. */
uint32_t jit_entry_at(const struct image *image, uint64_t address);
/* Room for one symbol an entry, zeroed. */
struct symbol **jit_symbols(const struct image *image);
bool jit_line(const struct image *image, uint64_t offset, const char **file, int *line);
int jit_bytes(const struct image *image, uint8_t *bytes, struct symbol_code *code,
              struct error *err);
/* Why names are missing or not sure, malloc'd; NULL: nothing to say. Anonymous memory too. */
char *jit_trouble(const struct image_table *images, uint32_t image);

#endif
