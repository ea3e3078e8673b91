/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * append_file: a file to which bytes are appended, and whose first block can be changed later.
 *
 * Bytes are written in large aligned pieces with direct I/O where the file system allows it. That
 * takes a quarter of the CPU time of buffered writes, and the profiled programs keep their page
 * cache. If the disk is slow, the next writes go through the page cache. The first block is small
 * and written often; it always goes through the cache, and no direct write touches it. Between
 * flushes, up to APPEND_FILE_BYTES are only in memory. After a flush the file has all bytes, and
 * may end with up to one block of zeros, which append_file_finish() removes. One thread. Uses:
 * base.
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
 * Takes over fd, of an empty file open for writing; path is for messages. `stays`: the file is kept
 * after an error, and the message says so.
 */
struct append_file *append_file_new(int fd, const char *path, bool stays);
int append_file_add(struct append_file *f, const void *bytes, size_t size, struct error *err);
/*
 * Changes bytes in the first block; offset + size <= APPEND_FILE_BLOCK. Written by the next flush.
 */
void append_file_patch(struct append_file *f, size_t offset, const void *bytes, size_t size);
/* Writes all bytes that were added, and then the first block, which may refer to them. */
int append_file_flush(struct append_file *f, struct error *err);
/* Flushes and gives the file its true size. */
int append_file_finish(struct append_file *f, struct error *err);
/* Reads bytes that were flushed, all or none. The file may have been renamed. */
int append_file_read(const struct append_file *f, uint64_t offset, void *bytes, size_t size,
                     struct error *err);
/* Closes the file and discards bytes that were not flushed. NULL-safe. */
void append_file_free(struct append_file *f);
/* The descriptor, for calls such as linkat() that concern the whole file. */
int append_file_descriptor(const struct append_file *f);
/* Bytes added so far. */
uint64_t append_file_size(const struct append_file *f);

#endif
