/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/mapped_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens a regular file with that inode; `place` is an O_PATH descriptor. */
static int open_found(int place, const struct event_mmap *m)
{
	char link[32];
	struct stat st;
	int fd = -1;

	if (place < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (!fstat(place, &st) && S_ISREG(st.st_mode) && st.st_ino == m->inode)
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(place);
	return fd;
}

/* Opens the mapped file itself, deleted or not; needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
static int open_mapping(const struct event_mmap *m, int32_t pid)
{
	char name[96];

	snprintf(name, sizeof(name), "/proc/%" PRId32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
	         m->addr, m->addr + m->size);
	return open_found(open(name, O_PATH | O_CLOEXEC), m);
}

/* Opens the path in the root and mount namespace of the process. */
static int open_in_root(const struct event_mmap *m, int32_t pid)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
	                       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char name[48];
	int root, fd;

	snprintf(name, sizeof(name), "/proc/%" PRId32 "/root", pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, m->filename, &how, sizeof(how));
	close(root);
	return open_found(fd, m);
}

int mapped_file_open(const struct event_mmap *m, int32_t pid)
{
	char exe[48];
	int fd = open_mapping(m, pid);

	if (fd < 0)
		fd = open_in_root(m, pid);
	/* Usually the process has exited but the file is still at its path. */
	if (fd < 0)
		fd = open_found(open(m->filename, O_PATH | O_CLOEXEC), m);
	if (fd < 0) {
		snprintf(exe, sizeof(exe), "/proc/%" PRId32 "/exe", pid);
		fd = open_found(open(exe, O_PATH | O_CLOEXEC), m);
	}
	return fd;
}
