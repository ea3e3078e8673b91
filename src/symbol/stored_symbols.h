/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_symbols: symbols from the names in a store (image/stored_names.h).
 *
 * They are used if the image's file cannot name a frame: the file is missing, was replaced, or is a
 * kernel that may have been booted at another address. Part of the symbolizer: same life cycle and
 * threads. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_STORED_SYMBOLS_H
#define ASSAY_SYMBOL_STORED_SYMBOLS_H

#include "symbol/symbolizer_internal.h"

/*
 * True if stored names take precedence over names that are found now: for modules, for any kernel
 * except the running one, and for files that are not proven to be the recorded files.
 */
bool stored_symbols_first(struct symbolizer *s, const struct image *image);
/* Returns `now`, the symbol that was found, or the stored symbol if it is more precise. */
const struct symbol *stored_symbols_better(struct symbolizer *s, struct symbol_image *i,
                                           struct frame frame, const struct symbol *now);

#endif
