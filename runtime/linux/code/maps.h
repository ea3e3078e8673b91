/* SPDX-License-Identifier: MIT */
/*
 * maps: reads and parses /proc/self/maps, and reads build-ids from ELF headers.
 *
 * maps_read() reports each mapping with a file's code, and the [vdso]. Pieces of one file that are
 * adjacent in memory and in the file are reported as one. The buffers are static: only one thread
 * may call at a time, which images.c ensures. No malloc, no stdio. Uses: include/assay.
 */
#ifndef ASSAY_RUNTIME_LINUX_CODE_MAPS_H
#define ASSAY_RUNTIME_LINUX_CODE_MAPS_H

#include "assay/wire.h"

#include <stdbool.h>
#include <stddef.h>

typedef void maps_fn(const struct assay_calls_image *image);

/* False: a part could not be read. */
bool maps_read(maps_fn *each);
/* Sets the build-id of the image passed to `each`, from the headers in memory, if it has one. */
void maps_build_id(struct assay_calls_image *image);

/*
 * Parses one line of /proc/self/maps without its line end. `perms` has 5 bytes. False: the line has
 * another format.
 */
bool maps_line(const char *line, size_t length, struct assay_calls_image *image, char *perms);
/* The build-id in the first bytes of an ELF file. Returns its size; 0: there is none. */
uint32_t maps_note(const uint8_t *bytes, size_t size, uint8_t id[32]);

#endif
