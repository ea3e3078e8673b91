/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * append_file: a file that grows at its end, and whose first block can be put
 * right meanwhile.
 *
 * Written in large aligned pieces past the page cache where the file system
 * lets us: a quarter of the CPU time of buffered writes, and what is observed
 * keeps its cache. A disk that makes us wait is written through the cache from
 * then on. The first block always goes through the cache: it is small, written
 * again and again, and no direct write ever touches it. Between flushes up to APPEND_FILE_BYTES are
 * in memory alone. After a flush all is in the file, which may end in up to a block of zeros until
 * append_file_finish() cuts them off. One thread. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_APPEND_FILE_H
#define ASSAY_BASE_FILE_APPEND_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define APPEND_FILE_BLOCK 4096
#define APPEND_FILE_BYTES (4u << 20)

struct append_file;

/*
 * Takes over fd, of an empty file open for writing; path is for messages. `stays`: what was
 * written until an error is left to be read, and the message says so.
 */
struct append_file *append_file_new(int fd, const char *path, bool stays);
int append_file_add(struct append_file *f, const void *bytes, size_t size, struct error *err);
/* Puts bytes in the first block right; offset + size <= APPEND_FILE_BLOCK. Seen after a flush. */
void append_file_patch(struct append_file *f, size_t offset, const void *bytes, size_t size);
/* Writes all that was added, and the first block after it: what it says is true. */
int append_file_flush(struct append_file *f, struct error *err);
/* Flushes and gives the file its true size. */
int append_file_finish(struct append_file *f, struct error *err);
/* Bytes that were flushed, all of them; the file may have another name by now. */
int append_file_read(const struct append_file *f, uint64_t offset, void *bytes, size_t size,
                     struct error *err);
/* Closes; what was not flushed is not written. NULL-safe. */
void append_file_free(struct append_file *f);
/* For calls that concern the file as a whole, such as linkat(). */
int append_file_descriptor(const struct append_file *f);
/* Bytes added so far. */
uint64_t append_file_size(const struct append_file *f);

#endif
