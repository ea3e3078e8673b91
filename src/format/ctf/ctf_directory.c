/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of a trace that is written, and older traces at its path. Only directories that
 * assay can have created are moved or removed: with a metadata file and streams, with streams
 * alone, or empty. Uses: base.
 */
#include "format/ctf/ctf_writer.h"

#include "base/file/file_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum there { THERE_NOTHING, THERE_TRACE, THERE_OTHER };

static bool ours(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "metadata") ||
	       !strcmp(name, ".metadata") || !strncmp(name, "stream_", 7);
}

/* Opens a directory that is not a link; -errno. */
static int open_directory(const struct file_place *p, const char *name)
{
	int fd = openat(p->directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* THERE_OTHER: *what describes the item. */
static enum there look(const struct file_place *p, const char *name, const char **what)
{
	enum there there = THERE_TRACE;
	struct dirent *entry;
	struct stat st;
	int rc = file_place_stat(p, name, &st), fd;
	DIR *d;

	if (rc) {
		*what = strerror(-rc);
		return rc == -ENOENT ? THERE_NOTHING : THERE_OTHER;
	}
	*what = S_ISLNK(st.st_mode) ? "a symbolic link" : "no directory";
	if (!S_ISDIR(st.st_mode))
		return THERE_OTHER;
	fd = open_directory(p, name);
	d = fd < 0 ? NULL : fdopendir(fd);
	*what = d ? "a directory that contains other things than a trace" : strerror(errno);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return THERE_OTHER;
	}
	while (there == THERE_TRACE && (entry = readdir(d)))
		if (!ours(entry->d_name))
			there = THERE_OTHER;
	closedir(d);
	return there;
}

static int in_the_way(const char *path, const char *what, struct error *err)
{
	return error_set(err, EEXIST, "%s exists: %s; give another path with -o", path, what);
}

/* Removes the files of a trace, then its directory. */
static int discard(const struct file_place *p, const char *name, struct error *err)
{
	int fd = open_directory(p, name), code = fd < 0 ? -fd : 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    ours(entry->d_name) && unlinkat(fd, entry->d_name, 0) && errno != ENOENT)
			code = errno;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (!code && unlinkat(p->directory, name, AT_REMOVEDIR))
		code = errno;
	return code ? error_set(err, code, "cannot remove the older trace %s.old: %s", p->path,
	                        strerror(code))
	            : 0;
}

static int put_aside(const struct file_place *p, struct error *err)
{
	char *old = xasprintf("%s.old", p->name), *path = xasprintf("%s.old", p->path);
	const char *what;
	enum there there = look(p, old, &what);
	int rc = 0;

	if (there == THERE_OTHER)
		rc = in_the_way(path, what, err);
	else if (there == THERE_TRACE)
		rc = discard(p, old, err);
	if (!rc && renameat(p->directory, p->name, p->directory, old))
		rc = error_set(err, errno, "%s cannot become %s: %s", p->path, path,
		               strerror(errno));
	free(path);
	free(old);
	return rc;
}

/* "a/.old" would not be a valid name for the older trace of "a/". */
static int open_place(struct file_place *p, const char *path, struct error *err)
{
	char *own = xstrdup(path);
	size_t length = strlen(own);
	struct error why = {0};
	int rc;

	while (length > 1 && own[length - 1] == '/')
		own[--length] = '\0';
	rc = file_place_open(p, own, NULL, &why);
	if (rc)
		error_set(err, -rc, "cannot create the directory %s: %s", own, why.text);
	free(own);
	return rc;
}

int ctf_writer_check(const char *path, struct error *err)
{
	char *old = NULL, *old_path = NULL;
	struct file_place place;
	const char *what;
	enum there there;
	int rc = open_place(&place, path, err);

	if (rc)
		return rc;
	old = xasprintf("%s.old", place.name);
	old_path = xasprintf("%s.old", place.path);
	there = look(&place, place.name, &what);
	if (there == THERE_OTHER)
		rc = in_the_way(place.path, what, err);
	else if (there == THERE_TRACE && look(&place, old, &what) == THERE_OTHER)
		rc = in_the_way(old_path, what, err);
	else if (faccessat(place.directory, ".", W_OK | X_OK, 0))
		rc = error_set(err, errno, "cannot create the directory %s: %s", place.path,
		               strerror(errno));
	free(old_path);
	free(old);
	file_place_close(&place);
	return rc;
}

/* Opens the created directory, unless another user has replaced it. */
static int open_made(const struct file_place *p, struct error *err)
{
	int fd = open_directory(p, p->name);
	struct stat st;

	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", p->path, strerror(-fd));
	if (!fstat(fd, &st) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return error_set(err, EPERM, "%s was replaced by another user's directory", p->path);
}

int ctf_directory_make(const char *path, struct error *err)
{
	struct file_place place;
	const char *what;
	enum there there;
	int rc = open_place(&place, path, err);

	if (rc)
		return rc;
	there = look(&place, place.name, &what);
	if (there == THERE_OTHER)
		rc = in_the_way(place.path, what, err);
	else if (there == THERE_TRACE && unlinkat(place.directory, place.name, AT_REMOVEDIR))
		rc = put_aside(&place, err); /* an empty directory needs no second name */
	if (!rc && mkdirat(place.directory, place.name, 0700))
		rc = error_set(err, errno, "cannot create the directory %s: %s", place.path,
		               strerror(errno));
	if (!rc)
		rc = open_made(&place, err);
	file_place_close(&place);
	return rc;
}
