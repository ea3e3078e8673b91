/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_copy: appends all bytes of a regular file to another file. Any thread. Uses: base. */
#ifndef ASSAY_BASE_FILE_FILE_COPY_H
#define ASSAY_BASE_FILE_FILE_COPY_H

/*
 * The kernel copies them if the file systems allow it. The position of `from` does not change. 0 or
 * -errno.
 */
int file_copy(int from, int to);

#endif
