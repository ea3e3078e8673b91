/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * served_mount: opens files without entering file systems that another user's program serves.
 *
 * The server of a FUSE file system is a program of the user who mounted it. While it does not
 * answer, open(), stat() and close() wait, and SIGKILL may not end that. Mounts by root and by
 * this process's user are trusted. The list of mounts is read at the first call, and again after it
 * has changed. The walk along a path also checks the rights of the user who chose it
 * (file_namer.h). Any thread. Uses: file_namer, vec.
 */
#ifndef ASSAY_BASE_READ_SERVED_MOUNT_H
#define ASSAY_BASE_READ_SERVED_MOUNT_H

#include "base/read/file_namer.h"

#include <stdbool.h>

/* True if such a file system is mounted anywhere: then open by served_mount_path(). */
bool served_mount_any(void);

/*
 * An O_PATH descriptor of the file that a path leads to, links followed, the caller's to close.
 * `flags`: O_NOFOLLOW returns a link at the end of the path instead of following it; else 0.
 * -EREMOTE: the path leads into such a file system; it was not entered. -EPERM: the namer may not
 * search a directory, or another user made a link in the path. Else -errno. The rights on the file
 * itself are not checked. A NULL namer is root.
 */
int served_mount_path(const char *path, int flags, const struct file_namer *namer);

/* Disables the check: this process's calls have a time limit. Called before threads are started. */
void served_mount_may_wait(void);

#endif
