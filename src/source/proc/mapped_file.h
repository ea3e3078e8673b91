/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_file: opens files that another user's process has mapped.
 *
 * The process chooses the names. The type of a file is checked before it is opened, so that devices
 * and FIFOs are not opened, and symbolic links are resolved inside the process's root, so that a
 * container's links cannot lead out of it. A file system may never answer: call these functions
 * only by foreign calls (source/proc/held_file.h). Any thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_MAPPED_FILE_H
#define ASSAY_SOURCE_PROC_MAPPED_FILE_H

#include "event/event.h"

/*
 * Opens a file for reading by the mapping itself, or else by its path; -1: not possible. `pid` may
 * be the id of any thread.
 */
int mapped_file_open(const struct event_mmap *m, int32_t pid);
/* Opens a regular file by its path in the root of the process, or returns -errno. */
int mapped_file_open_path(const char *path, int32_t pid);

#endif
