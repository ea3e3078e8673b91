/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_map: files that are mapped for reading, and that another program may truncate while they are
 * read.
 *
 * An access to a mapped page behind the end of its file raises SIGBUS. The handler, which the first
 * map installs, replaces the pages from there to the end of the map by zeros and sets a flag: the
 * reader continues, and decodes zeros. Readers check the flag (file_map_error()) before they report
 * success, and prefer its sentence to that of any other error. SIGBUS at other addresses has its
 * previous effect. Threads that read maps must not block SIGBUS.
 *
 * file_map_open / file_map_close; the latter accepts zeros. Any thread; one thread at a time for
 * each map. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_READ_FILE_MAP_H
#define ASSAY_BASE_READ_FILE_MAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct file_map_slot;

struct file_map {
	void *bytes;
	size_t size;
	struct file_map_slot *slot;
};

/* prot and flags as for mmap(2); size is not 0. -errno. */
int file_map_open(struct file_map *m, int fd, size_t size, int prot, int flags);
/* Takes over a region into which the caller has mapped files with PROT_READ. */
void file_map_adopt(struct file_map *m, void *bytes, size_t size);
void file_map_close(struct file_map *m);

/* True if the file became shorter than the map, and a missing page was read. */
bool file_map_is_cut(const struct file_map *m);
/* Returns `status`, or -EIO with a sentence if the map was truncated. */
int file_map_error(const struct file_map *m, const char *path, int status, struct error *err);

#endif
