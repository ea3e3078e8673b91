/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replace_file: writes a file whole, in the place of an older one.
 *
 * What was there under that name becomes PATH.old, as record does it; a reader
 * sees the older file or the new one, never a part. The logs of an older database (SQLite's
 * PATH-wal and PATH-journal, which a writer that died leaves) go with it: beside another one
 * they would be written into that. The file is 0600. A link, a
 * directory or a device but /dev/null is refused, and a file that somebody is
 * writing (file_in_use.h): replace_file_check() says so before there is anything
 * to lose. Who writes the file piece by piece begins with replace_file_part(), a
 * file beside it, and ends with replace_file_put() or unlink(). All return 0 or
 * -errno. Nothing is held. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_REPLACE_FILE_H
#define ASSAY_BASE_REPLACE_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Could be written, as things stand. */
int replace_file_check(const char *path, struct error *err);

int replace_file(const char *path, const void *bytes, size_t size, struct error *err);

/*
 * The file beside PATH, PATH.PID.part: empty, 0600, open for writing; its descriptor. What a
 * dead process with our number left under that name is taken away. `*part` is the caller's
 * to free, NULL after an error.
 */
int replace_file_part(const char *path, char **part, struct error *err);
/* What that process calls it; the caller's to free. */
char *replace_file_part_name(const char *path, pid_t pid);

/* PATH, which is there, becomes OLD, with its logs. Without a sentence. */
int replace_file_aside(const char *path, const char *old);

/* Takes PART, complete and closed, to PATH. After an error PART is there still. */
int replace_file_put(const char *part, const char *path, struct error *err);

#endif
