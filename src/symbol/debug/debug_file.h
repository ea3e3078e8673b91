/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_file: the separate file with an image's symbols and DWARF: on this
 * machine, or fetched by debuginfod where the user said so.
 * The files are the symbolizer's to close. Private to symbol/. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_FILE_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_FILE_H

#include "symbol/symbolizer_internal.h"

/* Finds i->debug, if there is one and it was not found before. */
void debug_file_find(struct symbolizer *s, struct symbol_image *i);

/* Where the image itself is not to be had: its debug file as i->file. False: neither is that. */
bool debug_file_in_place(struct symbolizer *s, struct symbol_image *i, const struct image *image);

#endif
