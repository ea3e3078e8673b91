/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_in_use: a file that a process writes piece by piece under its own name, and that others
 * are not to move out of its way meanwhile.
 *
 * Who writes it marks it: a lock (flock) that ends with the descriptor, so with the process too,
 * however it dies. Who is about to move the file or to put another one in its place asks first. The
 * kernel's list of locks tells of other users' files, too; where it does not know the file by
 * the same numbers (overlays), the lock is tried. A store's writer marks a file beside it,
 * FILE-lock, which counts as well. Advice, no guarantee: between the question and what is done
 * then, another one may begin. Nothing is held. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_FILE_IN_USE_H
#define ASSAY_BASE_FILE_FILE_IN_USE_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* A file system without locks has no marks: no error. */
void file_in_use_mark(int fd);

/* `*pid`: who, as far as that is known, else 0. A link is not followed. */
bool file_in_use(const char *path, pid_t *pid);

/* Both names lead to one file, or would, once there is one: links do not hide it. */
bool file_in_use_same(const char *a, const char *b);

/* -EBUSY with a sentence if it is. */
int file_in_use_check(const char *path, struct error *err);

#endif
