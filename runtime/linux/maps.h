/* SPDX-License-Identifier: MIT */
/*
 * maps: /proc/self/maps, read and taken apart, and build-ids out of ELF headers.
 *
 * maps_read() gives each mapping that holds a file's code, and the [vdso];
 * pieces of one file that lie side by side, in memory and in the file, are given
 * as one. Its buffers are static: one thread at a time, which images.c sees to.
 * No malloc, no stdio. Uses: include/assay.
 */
#ifndef ASSAY_RUNTIME_LINUX_MAPS_H
#define ASSAY_RUNTIME_LINUX_MAPS_H

#include "assay/wire.h"

#include <stdbool.h>
#include <stddef.h>

typedef void maps_fn(const struct assay_calls_image *image);

/* False: not all of it could be read. */
bool maps_read(maps_fn *each);
/* Sets the build-id of an image just given, from the headers in memory, if it has one there. */
void maps_build_id(struct assay_calls_image *image);

/* One line of /proc/self/maps, without its end, `perms` 5 bytes. False: not such a line. */
bool maps_line(const char *line, size_t length, struct assay_calls_image *image, char *perms);
/* The build-id in the first bytes of an ELF file; its size, 0: there is none. */
uint32_t maps_note(const uint8_t *bytes, size_t size, uint8_t id[32]);

#endif
