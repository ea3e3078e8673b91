/* SPDX-License-Identifier: MIT */
/*
 * images: which files' code is mapped where, written into the table.
 *
 * images_find() tells the image of an address; where none is known,
 * /proc/self/maps is read anew (raw system calls, no locks, no malloc), new
 * images are given to `add`, and those that are gone are marked. Build-ids are
 * read from the mapped headers. Several threads may call at once; one reads,
 * the others wait no longer than that takes, and a signal handler within it
 * does not wait at all. Uses: include/assay.
 */
#ifndef ASSAY_RUNTIME_LINUX_IMAGES_H
#define ASSAY_RUNTIME_LINUX_IMAGES_H

#include "assay/wire.h"

#include <stdbool.h>

/* Stores an image for good; its index in the order of adding, or -1: no room. */
typedef int images_add_fn(const struct assay_calls_image *image);
/* Image `index` is not mapped any more. */
typedef void images_gone_fn(int index, uint64_t start, uint64_t end);
/* An image was found that is not given to `add`: 4095 are known, which is the limit. */
typedef void images_full_fn(void);

void images_begin(images_add_fn *add, images_gone_fn *gone, images_full_fn *full);
/* The image that holds an address, or -1: none that is a file's. */
int images_find(uint64_t address);
/* Something was unmapped (dlclose): look which are gone. */
void images_check(void);
/* A fork's child has a table of its own: gives all images to `add` again. */
void images_again(void);
const struct assay_calls_image *images_get(int index); /* NULL: no such */

#endif
