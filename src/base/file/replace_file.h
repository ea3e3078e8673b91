/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replace_file: writes a whole file, and replaces an older one.
 *
 * The older file becomes PATH.old, as `assay record` does it. A reader sees the older file or the
 * new one, never a part. If the older file is an SQLite database, its logs (PATH-wal and
 * PATH-journal, left by a writer that was killed) are renamed with it: SQLite would apply them to
 * the new file. The file has mode 0600. Links, directories and devices except /dev/null are
 * refused, and a file that another process is writing (file_in_use.h). replace_file_check() reports
 * these errors before the caller does any work. The directory is held by a descriptor from begin to
 * end (file_place.h).
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

/* True if the file could be written now. */
int replace_file_check(const char *path, struct error *err);

int replace_file(const char *path, const void *bytes, size_t size, struct error *err);

struct replacement {
	struct file_place place;
	char *part; /* the temporary name, beside PATH; NULL: none */
};

/*
 * Creates the temporary file beside PATH, empty, with mode 0600, and returns a descriptor for
 * writing. A file of that name, left by an earlier process with the same pid, is removed. `held`:
 * as file_place_open(). After an error, the caller calls neither put nor discard.
 */
int replacement_begin(struct replacement *r, const char *path, const struct file_place *held,
                      struct error *err);
/* Renames the temporary file to PATH; after an error it is removed. Ends `r`. */
int replacement_put(struct replacement *r, struct error *err);
void replacement_discard(struct replacement *r);

/* The temporary name that this process uses for NAME, a path or a name; the caller frees it. */
char *replace_file_part_name(const char *name, pid_t pid);

/* Renames the existing file NAME to OLD, with its logs. Sets no error sentence. */
int replace_file_aside(const struct file_place *p, const char *name, const char *old);

#endif
