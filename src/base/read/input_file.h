/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input_file: files that the user names as inputs, and standard input.
 *
 * An open() of a named pipe waits for a writer, and a device may have no end: both are refused. A
 * pipe is read as standard input, "-", or as /dev/fd/N, as shells write it. Errors are -errno with
 * a sentence that names the file. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_READ_INPUT_FILE_H
#define ASSAY_BASE_READ_INPUT_FILE_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdbool.h>
#include <sys/types.h>

/* True for the kind of a pipe that has no name in a file system. */
bool input_file_is_pipe(const char *path, mode_t mode);

/* The sentence, and -EINVAL, for a path that is neither a file, a directory nor such a pipe. */
int input_file_refuse(const char *path, mode_t mode, struct error *err);

/* A descriptor of a regular file, a directory or a pipe; standard input for "-". */
int input_file_open(const char *path, struct error *err);
/* Closes it, except if it is standard input. */
void input_file_close(int fd);

/* "standard input" for "-", else the path. */
const char *input_file_name(const char *path);

/* Appends all bytes. -EFBIG: there are more than `limit`; the sentence ends in `advice`. */
int input_file_read(int fd, const char *name, size_t limit, const char *advice, struct buf *all,
                    struct error *err);

#endif
