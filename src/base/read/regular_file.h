/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regular_file: opens and reads files whose names come from other users.
 *
 * Names come from recordings, from debug information and from other processes. Such a name may be
 * that of a device, where open() alone may have an effect, or of a FIFO, where it would block.
 * Nothing is held except the descriptor, which the caller closes. Any thread. Uses: file_namer,
 * file_probe, served_mount.
 */
#ifndef ASSAY_BASE_READ_REGULAR_FILE_H
#define ASSAY_BASE_READ_REGULAR_FILE_H

#include "base/error.h"
#include "base/read/file_namer.h"

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Opens a file for reading, and sets *st. -EINVAL: it is not a regular file; -ETIMEDOUT: its file
 * system does not answer (file_probe.h); else -errno.
 */
int regular_file_open(const char *path, struct stat *st);

/*
 * The same for a path from a recording or from debug information. -EREMOTE: it is in a file system
 * that another user's program serves, which may never answer (served_mount.h). -EPERM: the user who
 * chose the path may not read it (file_namer.h); a NULL namer is root. `flags`: 0 or O_NOFOLLOW,
 * with which a path that ends in a link gives -ELOOP.
 */
int regular_file_open_recorded(const char *path, int flags, const struct file_namer *namer,
                               struct stat *st);

/* Sets the sentence for a negative status of these functions, and returns the status. */
int regular_file_error(struct error *err, int status, const char *path);

/* Reads this number of bytes at the current position; fewer only at the end of the file. -errno. */
ssize_t regular_file_read(int fd, void *into, size_t size);

#endif
