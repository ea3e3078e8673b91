/* SPDX-License-Identifier: MIT */
/*
 * patch: redirects an image's slots to stubs.
 *
 * Call patch_begin() once, then patch_image() for each image whose calls are followed. A repeated
 * call keeps what is patched already. libraries.h describes which slots are patched. An image is
 * not changed if there is no memory for its stubs, or none that may be executable. Uses:
 * calls/port.h.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_PATCH_H
#define ASSAY_RUNTIME_LIBRARIES_PATCH_H

#include "libraries/loaded.h"

/*
 * `timed` false: calls are only counted. `own`: an address in the runtime; calls into its image are
 * not followed.
 */
bool patch_begin(bool timed, uintptr_t own);
/* Returns one of the redirected slots; NULL: no slot is redirected. */
const uintptr_t *patch_image(const struct loaded *image);
bool patch_is_turned(const uintptr_t *slot);

/*
 * Scans an image's code for uses of its `count` slots from `first` on (got_x86_64.c). Adds
 * GOT_CALLED to the marks of slots that it calls or jumps through, and GOT_TAKEN for any other use.
 */
#define GOT_CALLED 1
#define GOT_TAKEN 2
void got_uses(const struct loaded *image, const uintptr_t *first, size_t count,
              unsigned char *marks);

#endif
