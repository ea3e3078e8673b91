/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * few_names: the functions at few places of a file, without making a table of all.
 *
 * For whoever names a handful of new places now and then, for years: a symbolizer reads and
 * sorts all symbols of a file, this goes over them once and keeps those that were asked for.
 * What it names, symbolizer_find() would name the same; labels, ranges between dynamic symbols
 * and files that are not there are left to that. Any thread. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_FEW_NAMES_H
#define ASSAY_SYMBOL_FEW_NAMES_H

#include "image/image.h"

/*
 * names[i]: the function at offsets[i] of an IMAGE_FILE, demangled, malloc'd; NULL: not found
 * this way. `path` as recorded, `root` as in symbol_options.
 */
void few_names(const struct image *image, const char *path, const char *root,
               const uint64_t *offsets, size_t count, char **names);

#endif
