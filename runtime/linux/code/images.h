/* SPDX-License-Identifier: MIT */
/*
 * images: the mapped files that contain code, and their addresses, written into the table.
 *
 * images_find() returns the image of an address. If no image is known, /proc/self/maps is read
 * again (raw system calls, no locks, no malloc). New images are passed to `add`, and images that
 * are no longer mapped are marked. Build-ids are read from the mapped headers. Several threads may
 * call at once: one thread reads, the others wait at most until it has finished. A signal handler
 * that interrupts the reader does not wait. Uses: include/assay.
 */
#ifndef ASSAY_RUNTIME_LINUX_CODE_IMAGES_H
#define ASSAY_RUNTIME_LINUX_CODE_IMAGES_H

#include "assay/wire.h"

#include <stdbool.h>

/* Stores an image permanently. Returns its index in the order of adding, or -1: no room. */
typedef int images_add_fn(const struct assay_calls_image *image);
/* Image `index` is no longer mapped. */
typedef void images_gone_fn(int index, uint64_t start, uint64_t end);
/* An image was found but not passed to `add`: the limit of 4095 images is reached. */
typedef void images_full_fn(void);

void images_begin(images_add_fn *add, images_gone_fn *gone, images_full_fn *full);
/* The image that contains the address, or -1: the address is in no file's mapping. */
int images_find(uint64_t address);
/* Reads all images again: after dlclose() some are no longer mapped, after chroot() none is found.
 */
void images_check(void);
/* Passes all known images to `add` again, for a new table. */
void images_again(void);
const struct assay_calls_image *images_get(int index); /* NULL: no such */

#endif
