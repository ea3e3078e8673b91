/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_file: the separate file with an image's symbols and DWARF, on this machine or fetched by
 * debuginfod if the user allowed it. The symbolizer closes the files. Private to symbol/. Uses:
 * base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_FILE_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_FILE_H

#include "symbol/symbolizer_internal.h"

/* Finds i->debug, if it was not found before. */
void debug_file_find(struct symbolizer *s, struct symbol_image *i);

/* If the image itself is missing: uses its debug file as i->file. False: there is none. */
bool debug_file_in_place(struct symbolizer *s, struct symbol_image *i, const struct image *image);

#endif
