/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write_all: bytes to a file descriptor, all of them or an error.
 *
 * Goes on after a signal and after a short write. 0 or -errno; how much was
 * written before an error is not told. Nothing is held. Any thread. Uses:
 * nothing of ours.
 */
#ifndef ASSAY_BASE_FILE_WRITE_ALL_H
#define ASSAY_BASE_FILE_WRITE_ALL_H

#include <stddef.h>

int write_all(int fd, const void *bytes, size_t size);

/* strerror() for a write that failed; of a limit on the size of files it names the way out. */
const char *write_error(int code);

#endif
