/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_head: the first bytes of a regular file, as gzip packed them or unpacked.
 *
 * The caller frees the buffer. 0 or -errno. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_READ_FILE_HEAD_H
#define ASSAY_BASE_READ_FILE_HEAD_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <sys/stat.h>

#define FILE_HEAD_BYTES 4096 /* enough for all formats with a magic */
#define FILE_HEAD_UNPACKED 4 /* unpacked bytes for each byte that was read, at most */

struct file_head {
	struct buf bytes;
	bool whole;  /* the file has no further bytes */
	size_t room; /* of file_head_read(); 0: FILE_HEAD_BYTES */
};

/*
 * Reads at most `room` bytes; "-" is standard input. -EINVAL: the file is not a regular one, and
 * *st describes it. Other errors are those of regular_file_open().
 */
int file_head_read(struct file_head *head, const char *path, size_t room, struct stat *st);
/* Replaces the bytes by what gzip unpacks from them; false: no bytes come out. */
bool file_head_unpack(struct file_head *head);
void file_head_done(struct file_head *head);

#endif
