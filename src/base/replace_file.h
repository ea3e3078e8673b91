/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replace_file: writes a file whole, in the place of an older one.
 *
 * What was there under that name becomes PATH.old, as record does it; a reader
 * sees the older file or the new one, never a part. The file is 0600. A link, a
 * directory or a device but /dev/null is refused: replace_file_check() says so
 * before there is anything to lose. Who writes the file piece by piece does so
 * under a name beside it and ends with replace_file_put(). All return 0 or
 * -errno. Nothing is held. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_REPLACE_FILE_H
#define ASSAY_BASE_REPLACE_FILE_H

#include "base/error.h"

#include <stddef.h>

/* Could be written, as things stand. */
int replace_file_check(const char *path, struct error *err);

int replace_file(const char *path, const void *bytes, size_t size, struct error *err);

/* Takes PART, complete and closed, to PATH. After an error PART is there still. */
int replace_file_put(const char *part, const char *path, struct error *err);

#endif
