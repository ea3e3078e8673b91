/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/replace_file.h"

#include "base/file/file_in_use.h"
#include "base/file/write_all.h"
#include "base/memory/xalloc.h"

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

enum target_kind { KIND_NONE, KIND_FILE, KIND_NULL };

static int kind_of(const struct file_place *p, enum target_kind *kind, struct error *err)
{
	struct stat st;
	int rc = file_place_stat(p, p->name, &st);

	*kind = KIND_NONE;
	if (rc)
		return rc == -ENOENT ? 0 : error_set(err, -rc, "%s: %s", p->path, strerror(-rc));
	*kind = KIND_FILE;
	if (S_ISREG(st.st_mode))
		return file_in_use_check(p->path, err);
	*kind = KIND_NULL;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return 0;
	return error_set(err, EEXIST, "%s is %s; it is to be a file of its own: name another",
	                 p->path,
	                 S_ISDIR(st.st_mode)   ? "a directory"
	                 : S_ISLNK(st.st_mode) ? "a symbolic link"
	                                       : "no regular file");
}

static int open_place(struct file_place *p, const char *path, const struct file_place *held,
                      struct error *err)
{
	struct error why = {0};
	int rc = file_place_open(p, path, held, &why);

	return rc ? error_set(err, -rc, "%s cannot be written: %s; name another file", path,
	                      why.text)
	          : 0;
}

/* The directory of the file; the caller frees it. */
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
	struct file_place place;
	enum target_kind kind;
	int rc = open_place(&place, path, NULL, err);

	if (!rc)
		rc = kind_of(&place, &kind, err);
	if (!rc && kind != KIND_NULL && faccessat(place.directory, ".", W_OK | X_OK, 0))
		rc = error_set(err, errno, "%s cannot be written: %s: %s; name another file", path,
		               directory, strerror(errno));
	file_place_close(&place);
	free(directory);
	return rc;
}

char *replace_file_part_name(const char *name, pid_t pid)
{
	return xasprintf("%s.%ld.part", name, (long)pid);
}

static int new_part(const struct file_place *p, const char *part)
{
	int fd = openat(p->directory, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                0600);

	if (fd < 0)
		return -errno;
	file_in_use_mark(fd);
	return fd;
}

/* In another PID namespace a process may have the same pid. */
static bool is_stale(const struct file_place *p, const char *part)
{
	char *path = file_place_now(p, part);
	struct stat st;
	pid_t pid;
	bool stale = !file_place_stat(p, part, &st) && S_ISREG(st.st_mode) &&
	             st.st_uid == geteuid() && !file_in_use(path, &pid);

	free(path);
	return stale;
}

int replacement_begin(struct replacement *r, const char *path, const struct file_place *held,
                      struct error *err)
{
	struct error why = {0};
	int fd = file_place_open(&r->place, path, held, &why);

	r->part = NULL;
	if (fd)
		return error_set(err, -fd, "cannot create %s: %s", path, why.text);
	r->part = replace_file_part_name(r->place.name, getpid());
	fd = new_part(&r->place, r->part);
	if (fd == -EEXIST && is_stale(&r->place, r->part) &&
	    !unlinkat(r->place.directory, r->part, 0))
		fd = new_part(&r->place, r->part);
	if (fd >= 0)
		return fd;
	if (fd == -EEXIST)
		error_set(err, -fd, "cannot create %.*s%s: %s",
		          (int)(r->place.name - r->place.path), path, r->part, strerror(-fd));
	else
		error_set(err, -fd, "cannot create %s: %s", path, strerror(-fd));
	free(r->part);
	r->part = NULL;
	replacement_discard(r);
	return fd;
}

void replacement_discard(struct replacement *r)
{
	if (r->part)
		unlinkat(r->place.directory, r->part, 0);
	free(r->part);
	r->part = NULL;
	file_place_close(&r->place);
}

/* ---- the older file ------------------------------------------------------ */

/*
 * True if the file is a log of SQLite (WAL or journal). SQLite would apply it to any database of
 * that name. It has changes that a process made before it died, or pages that it overwrote.
 */
static bool is_log(const struct file_place *p, const char *name)
{
	static const uint8_t begins[][4] = {
	        {0x37, 0x7f, 0x06, 0x82}, {0x37, 0x7f, 0x06, 0x83}, {0xd9, 0xd5, 0x05, 0xf9}};
	int fd = openat(p->directory, name,
	                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
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

static int rename_in(const struct file_place *p, const char *from, const char *to)
{
	return renameat(p->directory, from, p->directory, to) ? -errno : 0;
}

/*
 * Moves the log of file `from` to file `to`. If `from` does not exist (`gone`), its log is moved
 * aside, so that SQLite does not apply it to another file.
 */
static int move_log(const struct file_place *p, const char *from, const char *to,
                    const char *suffix, bool gone)
{
	char *log = xasprintf("%s%s", from, suffix);
	char *there = xasprintf(gone ? "%s%s.old" : "%s%s", gone ? from : to, suffix);
	int rc = 0;

	if (!gone && is_log(p, there))
		rc = unlinkat(p->directory, there, 0) ? -errno : 0;
	if (!rc && is_log(p, log))
		rc = rename_in(p, log, there);
	free(there);
	free(log);
	return rc;
}

static int move_logs(const struct file_place *p, const char *from, const char *to)
{
	struct stat st;
	bool gone = file_place_stat(p, from, &st) == -ENOENT;
	int rc = move_log(p, from, to, "-wal", gone);

	return rc ? rc : move_log(p, from, to, "-journal", gone);
}

int replace_file_aside(const struct file_place *p, const char *name, const char *old)
{
	int rc = move_logs(p, name, old);

	if (!rc) {
		rc = rename_in(p, name, old);
		if (rc)
			move_logs(p, old, name);
	}
	return rc;
}

/* If the file system can exchange two files, PATH exists at every moment. */
static int exchange(const struct file_place *p, const char *part, const char *old)
{
	const int at = p->directory;
	int rc;

	if (!renameat2(at, part, at, p->name, RENAME_EXCHANGE)) {
		/* The older file now has the temporary name, and must not be lost. */
		rc = rename_in(p, part, old);
		if (rc)
			renameat2(at, part, at, p->name, RENAME_EXCHANGE);
		return rc;
	}
	/* The file system cannot exchange files, or there is no older file. */
	if (errno != EINVAL && errno != ENOSYS && errno != ENOENT)
		return -errno;
	rc = rename_in(p, p->name, old);
	return rc && rc != -ENOENT ? rc : rename_in(p, part, p->name);
}

static int put(const struct file_place *p, const char *part, struct error *err)
{
	char *old = xasprintf("%s.old", p->name);
	enum target_kind kind;
	int rc = kind_of(p, &kind, err); /* checked again, since the file may have changed */

	if (rc) {
		free(old);
		return rc;
	}
	/* The logs move first: a reader must not open the new file beside the older one's log. */
	rc = move_logs(p, p->name, old);
	if (!rc && (rc = exchange(p, part, old)))
		move_logs(p, old, p->name);
	if (rc)
		error_set(err, -rc, "%s cannot be written (an older one becomes %s.old): %s",
		          p->path, p->path, strerror(-rc));
	free(old);
	return rc;
}

int replacement_put(struct replacement *r, struct error *err)
{
	int rc = put(&r->place, r->part, err);

	if (!rc) {
		free(r->part);
		r->part = NULL;
	}
	replacement_discard(r);
	return rc;
}

int replace_file(const char *path, const void *bytes, size_t size, struct error *err)
{
	struct replacement r;
	struct file_place place;
	enum target_kind kind;
	int fd, rc = open_place(&place, path, NULL, err);

	if (rc)
		return rc;
	rc = kind_of(&place, &kind, err);
	fd = rc || kind == KIND_NULL ? rc : replacement_begin(&r, path, &place, err);
	file_place_close(&place);
	if (rc || kind == KIND_NULL || fd < 0)
		return fd;
	rc = write_all(fd, bytes, size);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc)
		return replacement_put(&r, err);
	replacement_discard(&r);
	return error_set(err, -rc, "%s cannot be written: %s", path, write_error(-rc));
}
