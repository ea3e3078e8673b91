/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_in_use: tells writers of a file from other processes, so that no process moves or replaces a
 * file that another one still writes.
 *
 * A process that writes a file piece by piece under its final name marks it by a lock (flock). The
 * lock ends with the descriptor, and so with the process. A process that is about to move or
 * replace a file checks for the mark. The kernel's list of locks includes files of other users. If
 * the list does not have the file under the same device and inode (overlay file systems), the check
 * tries to lock the file. The writer of a store locks a file beside it, FILE-lock, which counts
 * too. The check is no guarantee: another process may start to write after it. Nothing is held. Any
 * thread. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_FILE_IN_USE_H
#define ASSAY_BASE_FILE_FILE_IN_USE_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Marks the file. A file system without locks has no marks; that is not an error. */
void file_in_use_mark(int fd);

/* `*pid`: the process that writes it, 0 if unknown. A link is not followed. */
bool file_in_use(const char *path, pid_t *pid);

/* True if both names lead to the same file, or would if it existed, also through links. */
bool file_in_use_same(const char *a, const char *b);

/* -EBUSY with a sentence if the file is in use. */
int file_in_use_check(const char *path, struct error *err);

#endif
