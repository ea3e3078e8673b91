/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/regular_file.h"

#include "base/read/file_probe.h"
#include "base/read/served_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* O_NONBLOCK, since the name may be that of a FIFO by now. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int open_regular(const char *path, int flags, struct stat *st)
{
	int fd, status = 0;

	if (!stat(path, st) && !S_ISREG(st->st_mode))
		return -EINVAL;
	fd = open(path, FLAGS | flags);
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

int regular_file_open(const char *path, struct stat *st)
{
	int status = file_probe_answers(path);

	return status ? status : open_regular(path, 0, st);
}

/* `place` was reached without entering a file system that another user serves. */
static int open_place(int place, struct stat *st)
{
	char again[64];
	int fd;

	if (fstat(place, st))
		return -errno;
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, FLAGS);
	return fd < 0 ? -errno : fd;
}

int regular_file_open_recorded(const char *path, int flags, const struct file_namer *namer,
                               struct stat *st)
{
	bool walks = served_mount_any() || !file_namer_is_trusted(namer);
	int place = walks ? served_mount_path(path, flags, namer) : 0, fd;

	if (place < 0)
		return place;
	fd = file_probe_answers(path);
	if (!fd)
		fd = place ? open_place(place, st) : open_regular(path, flags, st);
	if (place)
		close(place);
	if (fd < 0 || file_namer_reads(namer, fd))
		return fd;
	close(fd);
	return -EPERM;
}

int regular_file_error(struct error *err, int status, const char *path)
{
	if (status == -EINVAL)
		return error_set(err, EINVAL, "%s: is not a regular file", path);
	if (status == -EREMOTE)
		return error_set(err, EREMOTE,
		                 "%s: is in a file system that another user's program serves "
		                 "(FUSE), and is not read",
		                 path);
	if (status == -EPERM)
		return error_set(
		        err, EPERM,
		        "%s: is not read, as the owner of the file that names it may not "
		        "read it, or as that owner is not known; a file that all users may "
		        "read, with its directories, is read",
		        path);
	if (status == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT,
		                 "%s: the file system of this file did not answer in time, so its "
		                 "functions have no names",
		                 path);
	return error_set(err, -status, "%s: %s", path, strerror(-status));
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
