/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_file: opens files that somebody else's process has mapped.
 *
 * Names come from that process: what they lead to is looked at before it is
 * opened, so that no device or FIFO is, and a container's links do not lead out
 * of it. Their file systems may not answer: to be called by foreign calls alone
 * (source/proc/held_file.h). Any thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_MAPPED_FILE_H
#define ASSAY_SOURCE_PROC_MAPPED_FILE_H

#include "event/event.h"

/*
 * By the mapping itself or by its path, for reading; -1: it cannot be had. `pid`
 * may be any thread's.
 */
int mapped_file_open(const struct event_mmap *m, int32_t pid);

#endif
