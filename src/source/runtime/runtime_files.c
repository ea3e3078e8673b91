/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/runtime/runtime_files.h"

#include "base/file/safe_directory.h"
#include "base/memory/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the directory ------------------------------------------------------ */

static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

/* Must make the same choice as runtime/linux/place.c. */
static char *directory_choose(const struct shared_kind *kind)
{
	const char *own = environment(kind->variable);
	const char *runtime = safe_directory_runtime();

	if (own)
		return xstrdup(own);
	if (runtime)
		return xasprintf("%s/assay/%s", runtime, kind->name);
	if (!geteuid())
		return xasprintf("/run/assay/%s", kind->name);
	return xasprintf("/tmp/assay-%u/%s", (unsigned)geteuid(), kind->name);
}

/* The files show what a program does, so the directory must belong to this user and be private. */
static int directory_check(const struct shared_kind *kind, const struct stat *st, const char *path,
                           struct error *err)
{
	if (S_ISLNK(st->st_mode))
		return error_set(err, ELOOP,
		                 "%s is a symbolic link; %s are not searched through links; set "
		                 "another directory with %s",
		                 path, kind->what, kind->variable);
	if (!S_ISDIR(st->st_mode))
		return error_set(err, ENOTDIR, "%s is not a directory; set another one with %s",
		                 path, kind->variable);
	if (st->st_uid != geteuid())
		return error_set(
		        err, EPERM,
		        "%s belongs to another user (uid %u); set another directory with %s", path,
		        (unsigned)st->st_uid, kind->variable);
	if (st->st_mode & 077)
		return error_set(
		        err, EPERM,
		        "%s is accessible to other users (mode %03o); chmod 700 it, or set another "
		        "one with %s",
		        path, (unsigned)st->st_mode & 0777, kind->variable);
	return 0;
}

/* Returns a descriptor for openat(); -ENOENT: the directory does not exist, and `make` is false. */
static int directory_open(const struct shared_kind *kind, const char *path, bool make,
                          struct error *err)
{
	struct error why = {0};
	struct stat st;
	int fd = safe_directory_open(path, make ? SAFE_DIRECTORY_MAKE : 0, NULL, &why), rc = 0;

	/* A symbolic link at this path is refused, even if this user created it. */
	if (!lstat(path, &st) && S_ISLNK(st.st_mode))
		rc = directory_check(kind, &st, path, err);
	else if (fd < 0)
		rc = error_set(err, -fd, "%s; set another directory with %s", why.text,
		               kind->variable);
	else if (fstat(fd, &st))
		rc = error_set(err, errno, "cannot access %s: %s", path, strerror(errno));
	else
		rc = directory_check(kind, &st, path, err);
	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

int runtime_file_compare(const void *a, const void *b)
{
	const struct runtime_file *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->path, y->path);
}

int shared_directory(const struct shared_kind *kind, char **path, bool make, struct error *err)
{
	struct error why = {0};
	int fd;

	*path = directory_choose(kind);
	fd = directory_open(kind, *path, make, &why);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (fd == -ENOENT && !make)
		return 0;
	free(*path);
	*path = NULL;
	return error_set(err, -fd, "%s", why.text);
}

/* ---- the files ---------------------------------------------------------- */

bool shared_name_parse(const struct shared_kind *kind, const char *file, struct shared_name *name)
{
	char again[96];

	if (sscanf(file, "%" SCNd32 "-%" SCNu64 "-%u.", &name->pid, &name->birth, &name->number) !=
	            3 ||
	    name->pid <= 0)
		return false;
	snprintf(again, sizeof(again), "%" PRId32 "-%" PRIu64 "-%u.%s", name->pid, name->birth,
	         name->number, kind->name);
	return !strcmp(file, again);
}

/*
 * The recorder may have exited, and its ids may be another's: only sealed memory of this user is
 * accepted.
 */
static int handed_open(int directory, const char *name, int flags)
{
	char target[64], again[64];
	int pid, number, fd, seals;
	ssize_t size = readlinkat(directory, name, target, sizeof(target) - 1);

	if (size < 0)
		return -errno;
	target[size] = '\0';
	if (sscanf(target, RUNTIME_FILE_LINK, &pid, &number) != 2)
		return -ELOOP;
	snprintf(again, sizeof(again), RUNTIME_FILE_LINK, pid, number);
	if (strcmp(target, again) != 0)
		return -ELOOP;
	fd = open(target, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && seals & F_SEAL_SHRINK)
		return fd;
	close(fd);
	return -ELOOP;
}

int shared_file_open(int directory, const char *name, int flags, struct stat *st)
{
	int fd = openat(directory, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 && errno == ELOOP)
		fd = handed_open(directory, name, flags);
	else if (fd < 0)
		fd = -errno;
	if (fd < 0)
		return fd;
	if (fstat(fd, st))
		rc = -errno;
	else if (!S_ISREG(st->st_mode) || st->st_uid != geteuid())
		rc = -EPERM;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

bool runtime_file_is_handed(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static void give(const struct shared_kind *kind, int directory, const char *folder,
                 const char *file, shared_file_fn *each, void *ctx)
{
	struct shared_name name;
	struct stat st;
	char *path;
	int fd;

	if (!shared_name_parse(kind, file, &name))
		return;
	fd = shared_file_open(directory, file, O_RDONLY, &st);
	if (fd < 0)
		return;
	path = xasprintf("%s/%s", folder, file);
	each(ctx, fd, path, &name);
	free(path);
	close(fd);
}

int runtime_files_each(const struct shared_kind *kind, const char *directory, shared_file_fn *each,
                       void *ctx, struct error *err)
{
	struct error why = {0};
	int at = directory_open(kind, directory, false, &why), fd, rc = 0;
	const struct dirent *entry;
	DIR *dir;

	if (at == -ENOENT)
		return 0;
	if (at < 0)
		return error_set(err, -at, "%s", why.text);
	fd = safe_directory_list(at);
	close(at);
	if (fd < 0)
		rc = error_set(err, -fd, "cannot open %s: %s", directory, strerror(-fd));
	dir = rc ? NULL : fdopendir(fd);
	if (!rc && !dir)
		rc = error_set(err, errno, "cannot read %s: %s", directory, strerror(errno));
	while (dir && (entry = readdir(dir)))
		give(kind, fd, directory, entry->d_name, each, ctx);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return rc;
}
