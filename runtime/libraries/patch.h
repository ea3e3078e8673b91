/* SPDX-License-Identifier: MIT */
/*
 * patch: turns an image's slots towards stubs.
 *
 * patch_begin() once, then patch_image() for each image whose calls are to be
 * followed, once or again: what is patched already stays. What a slot must be
 * like is told in libraries.h. Nothing is changed in an image when there is
 * no memory for its stubs, or none that may be executed. Uses: calls/port.h.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_PATCH_H
#define ASSAY_RUNTIME_LIBRARIES_PATCH_H

#include "libraries/loaded.h"

/* `timed` false: calls are counted alone. `own`: in this image, calls into which never are. */
bool patch_begin(bool timed, uintptr_t own);
/* One of the slots that were turned; NULL: none were. */
const uintptr_t *patch_image(const struct loaded *image);
bool patch_is_turned(const uintptr_t *slot);

/*
 * What an image's code does with its `count` slots from `first` on (got_x86_64.c):
 * adds GOT_CALLED to the marks of those that it calls or jumps through, GOT_TAKEN
 * where it does anything else.
 */
#define GOT_CALLED 1
#define GOT_TAKEN 2
void got_uses(const struct loaded *image, const uintptr_t *first, size_t count,
              unsigned char *marks);

#endif
