/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/regular_file.h"

#include "base/file/file_probe.h"
#include "base/file/served_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Not blocking: by now the name may be a FIFO's. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Opens a file without entering a file system that another user serves. */
static int open_beside_served(const char *path, struct stat *st)
{
	int place = served_mount_path(path), fd;
	char again[64];

	if (place < 0)
		return place;
	fd = file_probe(path);
	if (fd) {
		close(place);
		return fd;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	if (fstat(place, st))
		fd = -errno;
	else if (!S_ISREG(st->st_mode))
		fd = -EINVAL;
	else if ((fd = open(again, FLAGS)) < 0)
		fd = -errno;
	close(place);
	return fd;
}

static bool may_wait;

void regular_file_may_wait(void)
{
	may_wait = true;
}

int regular_file_open_recorded(const char *path, struct stat *st)
{
	if (!may_wait && served_mount_any())
		return open_beside_served(path, st);
	return regular_file_open(path, st);
}

int regular_file_open(const char *path, struct stat *st)
{
	int fd, status = file_probe(path);

	if (status)
		return status;
	if (!stat(path, st) && !S_ISREG(st->st_mode))
		return -EINVAL;
	fd = open(path, FLAGS);
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
