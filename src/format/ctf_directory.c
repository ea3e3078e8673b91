/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of a trace that is to be written, and older ones in its way. Nothing
 * is moved or removed but what assay made: a directory that has a metadata file and
 * streams, or streams alone, or nothing. Uses: base.
 */
#include "format/ctf_writer.h"

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

/* THERE_OTHER: *what says what is in the way. */
static enum there look(const char *path, const char **what)
{
	enum there there = THERE_TRACE;
	struct dirent *entry;
	struct stat st;
	DIR *d;

	if (lstat(path, &st)) {
		*what = strerror(errno);
		return errno == ENOENT ? THERE_NOTHING : THERE_OTHER;
	}
	*what = S_ISLNK(st.st_mode) ? "a symbolic link" : "no directory";
	if (!S_ISDIR(st.st_mode))
		return THERE_OTHER;
	d = opendir(path);
	*what = d ? "a directory with other things than a trace in it" : strerror(errno);
	if (!d)
		return THERE_OTHER;
	while (there == THERE_TRACE && (entry = readdir(d)))
		if (!ours(entry->d_name))
			there = THERE_OTHER;
	closedir(d);
	return there;
}

static int in_the_way(const char *path, const char *what, struct error *err)
{
	return error_set(err, EEXIST, "%s is in the way: %s; name another place with -o", path,
	                 what);
}

/* A trace: its files, then itself. */
static int discard(const char *path, struct error *err)
{
	struct dirent *entry;
	DIR *d = opendir(path);
	int code = d ? 0 : errno;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(dirfd(d), entry->d_name, 0) && errno != ENOENT)
			code = errno;
	if (d)
		closedir(d);
	if (!code && rmdir(path))
		code = errno;
	return code ? error_set(err, code, "the older trace %s cannot be removed: %s", path,
	                        strerror(code))
	            : 0;
}

static int put_aside(const char *path, struct error *err)
{
	char *old = xasprintf("%s.old", path);
	const char *what;
	enum there there = look(old, &what);
	int rc = 0;

	if (there == THERE_OTHER)
		rc = in_the_way(old, what, err);
	else if (there == THERE_TRACE)
		rc = discard(old, err);
	if (!rc && rename(path, old))
		rc = error_set(err, errno, "%s cannot become %s: %s", path, old, strerror(errno));
	free(old);
	return rc;
}

/* "a/.old" is not what is meant by "a/". */
static char *without_slashes(const char *path)
{
	char *own = xstrdup(path);
	size_t length = strlen(own);

	while (length > 1 && own[length - 1] == '/')
		own[--length] = '\0';
	return own;
}

int ctf_writer_check(const char *path, struct error *err)
{
	char *own = without_slashes(path), *old = xasprintf("%s.old", own);
	const char *slash = strrchr(own, '/'), *what;
	char *above =
	        slash ? xstrndup(own, slash == own ? 1 : (size_t)(slash - own)) : xstrdup(".");
	enum there there = look(own, &what);
	int rc = 0;

	if (there == THERE_OTHER)
		rc = in_the_way(own, what, err);
	else if (there == THERE_TRACE && look(old, &what) == THERE_OTHER)
		rc = in_the_way(old, what, err);
	else if (access(above, W_OK | X_OK))
		rc = error_set(err, errno, "cannot make the directory %s in %s: %s", own, above,
		               strerror(errno));
	free(above);
	free(old);
	free(own);
	return rc;
}

int ctf_directory_make(const char *path, struct error *err)
{
	char *own = without_slashes(path);
	const char *what;
	enum there there;
	int rc = 0;

	there = look(own, &what);
	if (there == THERE_OTHER)
		rc = in_the_way(own, what, err);
	else if (there == THERE_TRACE && rmdir(own)) /* an empty one needs no second name */
		rc = put_aside(own, err);
	if (!rc && mkdir(own, 0700))
		rc = error_set(err, errno, "cannot make the directory %s: %s", own,
		               strerror(errno));
	free(own);
	return rc;
}
