/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/file_copy.h"

#include "base/file/write_all.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 65536

/* Copies in the kernel as far as the file systems allow it, from `*at` on. */
static void copy_fast(int from, int to, off_t *at, off_t size)
{
	ssize_t copied;

	while (*at < size &&
	       ((copied = copy_file_range(from, at, to, NULL, (size_t)(size - *at), 0)) > 0 ||
	        (copied < 0 && errno == EINTR)))
		;
}

int file_copy(int from, int to)
{
	char bytes[COPY_BYTES];
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	copy_fast(from, to, &at, st.st_size);
	while (at < st.st_size) {
		size_t want = st.st_size - at < COPY_BYTES ? (size_t)(st.st_size - at) : COPY_BYTES;
		ssize_t got = pread(from, bytes, want, at);
		int r;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		r = write_all(to, bytes, (size_t)got);
		if (r)
			return r;
		at += got;
	}
	return 0;
}
