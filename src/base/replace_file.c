/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/replace_file.h"

#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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
		return 0;
	*kind = KIND_NULL;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return 0;
	return error_set(err, EEXIST,
	                 "%s is %s; it is to be a file of its own: name another with -o", path,
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
		rc = error_set(err, errno, "%s cannot be written: %s: %s; name another with -o",
		               path, directory, strerror(errno));
	free(directory);
	return rc;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Where the two can be exchanged, PATH is there at every moment. */
static int put_in_place(const char *aside, const char *path, enum kind kind)
{
	char *old = xasprintf("%s.old", path);
	int rc = 0;

	if (kind == KIND_NONE) {
		rc = rename(aside, path) ? -errno : 0;
	} else if (!renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_EXCHANGE)) {
		/* The older file is aside now; it is not to be lost. */
		if (rename(aside, old)) {
			rc = -errno;
			renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_EXCHANGE);
		}
	} else if (errno == EINVAL || errno == ENOSYS || errno == ENOENT) {
		rc = (rename(path, old) && errno != ENOENT) || rename(aside, path) ? -errno : 0;
	} else {
		rc = -errno;
	}
	free(old);
	return rc;
}

int replace_file(const char *path, const void *bytes, size_t size, struct error *err)
{
	char *aside = NULL;
	enum kind kind;
	int fd, rc = kind_of(path, &kind, err);

	if (rc || kind == KIND_NULL)
		return rc;
	aside = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(aside, O_CLOEXEC); /* 0600 */
	if (fd < 0) {
		rc = error_set(err, errno, "cannot create %s: %s", path, strerror(errno));
		goto out;
	}
	rc = write_all(fd, bytes, size);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc)
		rc = put_in_place(aside, path, kind);
	if (rc) {
		unlink(aside);
		error_set(err, -rc, "%s cannot be written: %s", path, strerror(-rc));
	}
out:
	free(aside);
	return rc;
}
