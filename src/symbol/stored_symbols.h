/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_symbols: symbols from the names that a history kept (image/stored_names.h).
 *
 * They answer where the image's file cannot: it is not there, another one has its place, or
 * it is a kernel, which may since have been booted elsewhere. Part of the symbolizer, whose
 * lives and threads it shares. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_STORED_SYMBOLS_H
#define ASSAY_SYMBOL_STORED_SYMBOLS_H

#include "symbol/symbolizer_internal.h"

/*
 * Whether names that were kept count for more than what is found now: of modules, of any
 * kernel but the running one, and where nothing proves a file to be the recorded one.
 */
bool stored_symbols_first(struct symbolizer *s, const struct image *image);
/* What is found `now` of a frame, or what was kept of it, if that says more. */
const struct symbol *stored_symbols_better(struct symbolizer *s, struct symbol_image *i,
                                           struct frame frame, const struct symbol *now);

#endif
