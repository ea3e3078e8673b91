/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/file_in_use.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void file_in_use_mark(int fd)
{
	flock(fd, LOCK_EX | LOCK_NB);
}

enum lock_listing { NOT_LISTED, LISTED, LISTED_OF_OURS };

/* SOUGHT_MARK: the lock of a marked file. SOUGHT_ANY: any lock of a store's lock file. */
enum sought { SOUGHT_MARK, SOUGHT_ANY };

/*
 * A line: "1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF". A process that waits for a lock has
 * "->".
 */
static enum lock_listing look_at_line(const char *line, const struct stat *st, enum sought sought,
                                      pid_t *pid)
{
	char kind[16], mode[16];
	unsigned major_number, minor_number;
	unsigned long inode;
	int holder;

	if (sscanf(line, "%*d: %15s %*15s %15s %d %x:%x:%lu", kind, mode, &holder, &major_number,
	           &minor_number, &inode) != 6 ||
	    inode != st->st_ino || makedev(major_number, minor_number) != st->st_dev)
		return NOT_LISTED;
	if (sought == SOUGHT_MARK && strcmp(kind, "FLOCK") != 0)
		return holder == getpid() ? LISTED_OF_OURS : NOT_LISTED;
	if (strcmp(mode, "WRITE") != 0)
		return NOT_LISTED;
	*pid = holder > 0 ? holder : 0;
	return LISTED;
}

static enum lock_listing look_at_list(const struct stat *st, enum sought sought, pid_t *pid)
{
	FILE *list = fopen("/proc/locks", "re");
	enum lock_listing found = NOT_LISTED;
	char *line = NULL;
	size_t room = 0;

	while (list && found != LISTED && getline(&line, &room, list) > 0) {
		enum lock_listing now = look_at_line(line, st, sought, pid);

		if (now != NOT_LISTED)
			found = now;
	}
	free(line);
	if (list)
		fclose(list);
	return found;
}

static int open_to_look(const char *path)
{
	return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool is_locked(const char *path)
{
	int fd = open_to_look(path);
	bool locked;

	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

/* True if any bytes are locked. A store's locks belong to the open file, not to a process. */
static bool has_locked_bytes(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open_to_look(path);
	bool locked = fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Writers of a store lock a file beside it (store.h), which SQLite does not use. */
static bool is_written_store(const char *path, pid_t *pid)
{
	char *beside = xasprintf("%s-lock", path);
	struct stat st;
	bool there = !lstat(beside, &st) && S_ISREG(st.st_mode);
	bool used = there &&
	            (look_at_list(&st, SOUGHT_ANY, pid) != NOT_LISTED || has_locked_bytes(beside));

	free(beside);
	return used;
}

bool file_in_use(const char *path, pid_t *pid)
{
	struct stat st;

	*pid = 0;
	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	if (is_written_store(path, pid))
		return true;
	switch (look_at_list(&st, SOUGHT_MARK, pid)) {
	case LISTED:
		return true;
	case LISTED_OF_OURS: /* the file has locks of another kind, which close() would release */
		return false;
	case NOT_LISTED:
		break;
	}
	return is_locked(path);
}

/* Finds the directory of the path, and the name in it. */
static bool look_at_place(const char *path, struct stat *directory, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	bool there = !stat(parent, directory);

	*name = slash ? slash + 1 : path;
	free(parent);
	return there;
}

static bool one_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool file_in_use_same(const char *a, const char *b)
{
	const char *name_a, *name_b;
	struct stat st_a, st_b;

	if (!stat(a, &st_a) && !stat(b, &st_b))
		return one_inode(&st_a, &st_b);
	return look_at_place(a, &st_a, &name_a) && look_at_place(b, &st_b, &name_b) &&
	       one_inode(&st_a, &st_b) && !strcmp(name_a, name_b);
}

int file_in_use_check(const char *path, struct error *err)
{
	pid_t pid;

	if (!file_in_use(path, &pid))
		return 0;
	if (pid)
		return error_set(err, EBUSY,
		                 "%s is being written by process %d: name another file, or end "
		                 "that one first",
		                 path, (int)pid);
	return error_set(err, EBUSY,
	                 "%s is being written by another process: name another file, or end that "
	                 "one first",
	                 path);
}
