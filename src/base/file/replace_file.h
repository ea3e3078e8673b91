/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replace_file: writes a file whole, in the place of an older one.
 *
 * What was there under that name becomes PATH.old, as record does it; a reader
 * sees the older file or the new one, never a part. The logs of an older database (SQLite's
 * PATH-wal and PATH-journal, which a writer that died leaves) go with it: beside another one
 * they would be written into that. The file is 0600. A link, a
 * directory or a device but /dev/null is refused, and a file that another process
 * is writing (file_in_use.h): replace_file_check() says so before there is anything
 * to lose. The directory is held by a descriptor from begin to end (file_place.h).
 *
 *	fd = replacement_begin(&r, path, NULL, err)	a file beside it, PATH.PID.part
 *	...					written piece by piece through fd, closed
 *	replacement_put(&r, err)	or replacement_discard(&r)
 *
 * All return 0 or -errno. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_REPLACE_FILE_H
#define ASSAY_BASE_FILE_REPLACE_FILE_H

#include "base/error.h"
#include "base/file/file_place.h"

#include <stddef.h>
#include <sys/types.h>

/* Could be written, as things stand. */
int replace_file_check(const char *path, struct error *err);

int replace_file(const char *path, const void *bytes, size_t size, struct error *err);

struct replacement {
	struct file_place place;
	char *part; /* the name of the file beside it; NULL: none */
};

/*
 * The file beside PATH: empty, 0600, open for writing; its descriptor. What a dead process with
 * our number left under that name is removed. `held`: as file_place_open(). After an error there
 * is nothing to end.
 */
int replacement_begin(struct replacement *r, const char *path, const struct file_place *held,
                      struct error *err);
/* Renames the temporary file to PATH; after an error it is removed. Ends `r`. */
int replacement_put(struct replacement *r, struct error *err);
void replacement_discard(struct replacement *r);

/* What that process calls the file beside NAME, a path or a name; the caller's to free. */
char *replace_file_part_name(const char *name, pid_t pid);

/* NAME, which is there, becomes OLD, with its logs. Without a sentence. */
int replace_file_aside(const struct file_place *p, const char *name, const char *old);

#endif
