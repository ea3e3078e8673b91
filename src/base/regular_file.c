/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/regular_file.h"

#include "base/file_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int regular_file_open(const char *path, struct stat *st)
{
	int fd, status = file_probe(path);

	if (status)
		return status;
	if (!stat(path, st) && !S_ISREG(st->st_mode))
		return -EINVAL;
	/* Not blocking: by now the name may be a FIFO's. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		status = -errno;
	else if (!S_ISREG(st->st_mode))
		status = -EINVAL;
	if (!status)
		return fd;
	close(fd);
	return status;
}

ssize_t regular_file_read(int fd, void *into, size_t size)
{
	size_t done = 0;
	ssize_t got = 1;

	while (done < size && got) {
		got = read(fd, (char *)into + done, size - done);
		if (got < 0 && errno != EINTR)
			return -errno;
		done += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)done;
}
