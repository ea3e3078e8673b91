/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared_files.h"

#include "base/xalloc.h"

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

/* The same choice as runtime/linux/place.c makes. */
static char *directory_choose(const struct shared_kind *kind)
{
	const char *own = environment(kind->variable);
	const char *runtime = environment("XDG_RUNTIME_DIR");

	if (own)
		return xstrdup(own);
	if (runtime)
		return xasprintf("%s/assay/%s", runtime, kind->name);
	if (!geteuid())
		return xasprintf("/run/assay/%s", kind->name);
	return xasprintf("/tmp/assay-%u/%s", (unsigned)geteuid(), kind->name);
}

/* The files tell what a program does: their directory is this user's alone, or not used. */
static int directory_check(const struct shared_kind *kind, const struct stat *st, const char *path,
                           struct error *err)
{
	if (S_ISLNK(st->st_mode))
		return error_set(err, ELOOP,
		                 "%s is a symbolic link; %s are not looked for behind one: name "
		                 "another one with %s",
		                 path, kind->what, kind->variable);
	if (!S_ISDIR(st->st_mode))
		return error_set(err, ENOTDIR, "%s is no directory; name another one with %s", path,
		                 kind->variable);
	if (st->st_uid != geteuid())
		return error_set(err, EPERM,
		                 "%s is another user's (uid %u); name another one with %s", path,
		                 (unsigned)st->st_uid, kind->variable);
	if (st->st_mode & 077)
		return error_set(err, EPERM,
		                 "%s is open to others (mode %03o); chmod 700 it, or name another "
		                 "one with %s",
		                 path, (unsigned)st->st_mode & 0777, kind->variable);
	return 0;
}

static int cannot_make(const struct shared_kind *kind, char *path, char *slash, char was, int code,
                       struct error *err)
{
	error_set(err, code, "cannot make %s: %s; name another directory with %s", path,
	          strerror(code), kind->variable);
	*slash = was;
	return -code;
}

/* Each folder of a path that is not there, 0700. */
static int directory_make(const struct shared_kind *kind, char *path, struct error *err)
{
	int above = ENOENT, code;

	for (char *slash = path + 1;; slash++) {
		char was = *slash;

		if (was && was != '/')
			continue;
		*slash = '\0';
		code = mkdir(path, 0700) && errno != EEXIST ? errno : 0;
		/* It may be there all the same, on a read-only disk: what is below tells. */
		if (code && code != ENOENT && was)
			above = code;
		else if (code)
			return cannot_make(kind, path, slash, was, code == ENOENT ? above : code,
			                   err);
		*slash = was;
		if (!was)
			return 0;
	}
}

int shared_directory(const struct shared_kind *kind, char **path, bool make, struct error *err)
{
	struct stat st;
	int rc;

	*path = directory_choose(kind);
	rc = make ? directory_make(kind, *path, err) : 0;
	if (!rc && !lstat(*path, &st))
		rc = directory_check(kind, &st, *path, err);
	else if (!rc && errno != ENOENT)
		rc = error_set(err, errno, "cannot look at %s: %s", *path, strerror(errno));
	if (rc) {
		free(*path);
		*path = NULL;
	}
	return rc;
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

int shared_file_open(int directory, const char *name, int flags, struct stat *st)
{
	int fd = openat(directory, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		rc = -errno;
	else if (!S_ISREG(st->st_mode) || st->st_uid != geteuid())
		rc = -EPERM;
	if (!rc)
		return fd;
	close(fd);
	return rc;
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

int shared_files_each(const struct shared_kind *kind, const char *directory, shared_file_fn *each,
                      void *ctx, struct error *err)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *entry;
	struct stat st;
	DIR *dir;
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR) && !lstat(directory, &st))
		return directory_check(kind, &st, directory, err);
	if (fd < 0 || fstat(fd, &st))
		rc = error_set(err, errno, "cannot open %s: %s", directory, strerror(errno));
	else
		rc = directory_check(kind, &st, directory, err);
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
