/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_copy: all bytes of a regular file to the end of another. Any thread. Uses: base. */
#ifndef ASSAY_BASE_FILE_FILE_COPY_H
#define ASSAY_BASE_FILE_FILE_COPY_H

/* In the kernel as far as it can. The position of `from` stays. 0 or -errno. */
int file_copy(int from, int to);

#endif
