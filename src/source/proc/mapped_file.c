/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens a regular file with that inode, 0: with any; `place` is an O_PATH descriptor. -errno. */
static int open_regular(int place, uint64_t inode)
{
	char link[32];
	struct stat st;
	int fd = -ENOENT;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (!fstat(place, &st) && S_ISREG(st.st_mode) && (!inode || st.st_ino == inode)) {
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(place);
	return fd;
}

static int open_found(int place, const struct event_mmap *m)
{
	int fd = place < 0 || !m->inode ? -1 : open_regular(place, m->inode);

	if (place >= 0 && !m->inode)
		close(place);
	return fd < 0 ? -1 : fd;
}

/* Opens the mapped file itself, deleted or not; needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
static int open_mapping(const struct event_mmap *m, int32_t pid)
{
	char name[96];

	snprintf(name, sizeof(name), "/proc/%" PRId32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
	         m->addr, m->addr + m->size);
	return open_found(open(name, O_PATH | O_CLOEXEC), m);
}

/* An O_PATH descriptor of the path in the root and mount namespace of the process, or -1. */
static int find_in_root(const char *path, int32_t pid)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
	                       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char name[48];
	int root, fd, failed;

	snprintf(name, sizeof(name), "/proc/%" PRId32 "/root", pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	failed = errno;
	close(root);
	errno = failed;
	return fd;
}

int mapped_file_open_path(const char *path, int32_t pid)
{
	int place = find_in_root(path, pid);

	return place < 0 ? -errno : open_regular(place, 0);
}

int mapped_file_open(const struct event_mmap *m, int32_t pid)
{
	char exe[48];
	int fd = open_mapping(m, pid);

	if (fd < 0)
		fd = open_found(find_in_root(m->filename, pid), m);
	/* Usually the process has exited but the file is still at its path. */
	if (fd < 0)
		fd = open_found(open(m->filename, O_PATH | O_CLOEXEC), m);
	if (fd < 0) {
		snprintf(exe, sizeof(exe), "/proc/%" PRId32 "/exe", pid);
		fd = open_found(open(exe, O_PATH | O_CLOEXEC), m);
	}
	return fd;
}
