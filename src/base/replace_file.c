/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/replace_file.h"

#include "base/file_in_use.h"
#include "base/write_all.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum kind { KIND_NONE, KIND_FILE, KIND_NULL };

static int kind_of(const char *path, enum kind *kind, struct error *err)
{
	struct stat st;

	*kind = KIND_NONE;
	if (lstat(path, &st))
		return errno == ENOENT ? 0 : error_set(err, errno, "%s: %s", path, strerror(errno));
	*kind = KIND_FILE;
	if (S_ISREG(st.st_mode))
		return file_in_use_check(path, err);
	*kind = KIND_NULL;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return 0;
	return error_set(err, EEXIST, "%s is %s; it is to be a file of its own: name another", path,
	                 S_ISDIR(st.st_mode)   ? "a directory"
	                 : S_ISLNK(st.st_mode) ? "a symbolic link"
	                                       : "no regular file");
}

/* The directory that holds it; the caller's to free. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

int replace_file_check(const char *path, struct error *err)
{
	char *directory = directory_of(path);
	enum kind kind;
	int rc = kind_of(path, &kind, err);

	if (!rc && kind != KIND_NULL && access(directory, W_OK | X_OK))
		rc = error_set(err, errno, "%s cannot be written: %s: %s; name another file", path,
		               directory, strerror(errno));
	free(directory);
	return rc;
}

char *replace_file_part_name(const char *path, pid_t pid)
{
	return xasprintf("%s.%ld.part", path, (long)pid);
}

static int new_part(const char *part)
{
	int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	file_in_use_mark(fd);
	return fd;
}

/* In another namespace somebody may live who has our number. */
static bool is_stale(const char *part)
{
	struct stat st;
	pid_t pid;

	return !lstat(part, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !file_in_use(part, &pid);
}

int replace_file_part(const char *path, char **part, struct error *err)
{
	char *name = replace_file_part_name(path, getpid());
	int fd = new_part(name);

	*part = NULL;
	if (fd == -EEXIST && is_stale(name) && !unlink(name))
		fd = new_part(name);
	if (fd < 0) {
		error_set(err, -fd, "cannot create %s: %s", fd == -EEXIST ? name : path,
		          strerror(-fd));
		free(name);
	} else {
		*part = name;
	}
	return fd;
}

/* ---- the older file ------------------------------------------------------ */

/*
 * What SQLite would write into whatever database stands there under the name: what a process
 * that died had not copied into its own one yet, or had begun to overwrite there.
 */
static bool is_log(const char *path)
{
	static const uint8_t begins[][4] = {
	        {0x37, 0x7f, 0x06, 0x82}, {0x37, 0x7f, 0x06, 0x83}, {0xd9, 0xd5, 0x05, 0xf9}};
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uint8_t bytes[4];
	struct stat st;
	bool is = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, bytes, 4, 0) == 4)
		for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
			is |= !memcmp(bytes, begins[i], 4);
	close(fd);
	return is;
}

/* Of which file it is: it goes with that. Where that is gone, none is to be taken for it. */
static int move_log(const char *from, const char *to, const char *suffix, bool gone)
{
	char *log = xasprintf("%s%s", from, suffix);
	char *there = xasprintf(gone ? "%s%s.old" : "%s%s", gone ? from : to, suffix);
	int rc = 0;

	if (!gone && is_log(there))
		rc = unlink(there);
	if (!rc && is_log(log))
		rc = rename(log, there);
	rc = rc ? -errno : 0;
	free(there);
	free(log);
	return rc;
}

static int move_logs(const char *from, const char *to)
{
	struct stat st;
	bool gone = lstat(from, &st) && errno == ENOENT;
	int rc = move_log(from, to, "-wal", gone);

	return rc ? rc : move_log(from, to, "-journal", gone);
}

int replace_file_aside(const char *path, const char *old)
{
	int rc = move_logs(path, old);

	if (!rc && rename(path, old)) {
		rc = -errno;
		move_logs(old, path);
	}
	return rc;
}

/* Where the two can be exchanged, PATH is there at every moment. */
static int exchange(const char *part, const char *path, const char *old)
{
	int rc;

	if (!renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_EXCHANGE)) {
		/* The older file is aside now; it is not to be lost. */
		rc = rename(part, old) ? -errno : 0;
		if (rc)
			renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_EXCHANGE);
		return rc;
	}
	/* Not known to this file system, or there is no older one. */
	if (errno != EINVAL && errno != ENOSYS && errno != ENOENT)
		return -errno;
	return (rename(path, old) && errno != ENOENT) || rename(part, path) ? -errno : 0;
}

int replace_file_put(const char *part, const char *path, struct error *err)
{
	char *old = xasprintf("%s.old", path);
	enum kind kind;
	int rc = kind_of(path, &kind, err); /* as things stand now */

	if (rc) {
		free(old);
		return rc;
	}
	/* First: nobody may open the new file with the older one's log beside it. */
	rc = move_logs(path, old);
	if (!rc && (rc = exchange(part, path, old)))
		move_logs(old, path);
	if (rc)
		error_set(err, -rc, "%s cannot be written (an older one becomes %s): %s", path, old,
		          strerror(-rc));
	free(old);
	return rc;
}

int replace_file(const char *path, const void *bytes, size_t size, struct error *err)
{
	char *part = NULL;
	enum kind kind;
	int fd, rc = kind_of(path, &kind, err);

	if (rc || kind == KIND_NULL)
		return rc;
	fd = replace_file_part(path, &part, err);
	if (fd < 0)
		return fd;
	rc = write_all(fd, bytes, size);
	if (close(fd) && !rc)
		rc = -errno;
	if (rc)
		error_set(err, -rc, "%s cannot be written: %s", path, strerror(-rc));
	else
		rc = replace_file_put(part, path, err);
	if (rc)
		unlink(part);
	free(part);
	return rc;
}
