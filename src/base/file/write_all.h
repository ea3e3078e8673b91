/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write_all: writes bytes to a file descriptor, all of them or with an error.
 *
 * Continues after a signal and after a short write. 0 or -errno; the number of bytes written before
 * an error is not returned. Nothing is held. Any thread. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_FILE_WRITE_ALL_H
#define ASSAY_BASE_FILE_WRITE_ALL_H

#include <stddef.h>

int write_all(int fd, const void *bytes, size_t size);

/*
 * strerror() for a failed write; for the limit on the size of files it names the command to change
 * it.
 */
const char *write_error(int code);

#endif
