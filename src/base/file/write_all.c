/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/write_all.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

const char *write_error(int code)
{
	return code == EFBIG
	               ? "the file would be larger than the limit on the size of files allows "
	                 "(ulimit -f)"
	               : strerror(code);
}
