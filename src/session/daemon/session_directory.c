/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/session_directory.h"

#include "base/file/safe_directory.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "assay"

/* The parent directory, which the caller frees. `*said`: the user chose the directory. */
static char *above_choose(bool *said)
{
	const char *runtime = safe_directory_runtime();

	*said = runtime;
	if (*said)
		return xstrdup(runtime);
	return geteuid() ? xasprintf("/run/user/%u", (unsigned)geteuid()) : xstrdup("/run");
}

/* Never returns -ENOENT, which means that there are no sessions. */
static int above_missing(const char *path, bool said, int code, struct error *err)
{
	const int given = code == ENOENT ? ENXIO : code;

	if (said)
		return error_set(err, given,
		                 "$XDG_RUNTIME_DIR, %s: %s; set it to a directory of yours "
		                 "(mode 700), where sessions are found",
		                 path, strerror(code));
	return error_set(err, given,
	                 "%s: %s; set XDG_RUNTIME_DIR to a directory of yours (mode 700), where "
	                 "sessions are found",
	                 path, strerror(code));
}

/* Checks that no other user can replace the directory. */
static int above_open(const char *path, bool said, struct error *err)
{
	struct error why = {0};
	struct stat st;
	int fd;

	if (path[0] != '/')
		return error_set(err, EINVAL,
		                 "$XDG_RUNTIME_DIR, '%s', is not an absolute path; set it to a "
		                 "directory of yours (mode 700), where sessions are found",
		                 path);
	fd = safe_directory_open(path, SAFE_DIRECTORY_OURS, NULL, &why);
	if (fd == -EPERM || fd == -ELOOP)
		return error_set(
		        err, -fd,
		        "%s; set XDG_RUNTIME_DIR to a directory of yours (mode 700), where "
		        "sessions are found",
		        why.text);
	if (fd < 0)
		return above_missing(path, said, -fd, err);
	if (!fstat(fd, &st) && (st.st_uid == geteuid() || !st.st_uid) &&
	    !((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
		return fd;
	close(fd);
	return error_set(err, EPERM,
	                 "%s can be written by others; set XDG_RUNTIME_DIR to a directory of "
	                 "yours (mode 700), where sessions are found",
	                 path);
}

static int folder_check(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if (st.st_uid != geteuid())
		return error_set(err, EPERM,
		                 "%s is another user's (uid %u); set XDG_RUNTIME_DIR to a "
		                 "directory of yours (mode 700)",
		                 path, (unsigned)st.st_uid);
	if (st.st_mode & 077)
		return error_set(err, EPERM, "%s is open to others (mode %03o); chmod 700 it", path,
		                 (unsigned)st.st_mode & 0777);
	return 0;
}

static int folder_open(int above, const char *path, bool make, struct error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(above, FOLDER, flags), rc;

	if (fd < 0 && errno == ENOENT && make && (!mkdirat(above, FOLDER, 0700) || errno == EEXIST))
		fd = openat(above, FOLDER, flags);
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return error_set(err, ENOTDIR,
		                 "%s is not a directory, or is a link; it must be a directory "
		                 "of yours (mode 700)",
		                 path);
	/* It belongs to another user, or the file system is read-only or full. */
	if (fd < 0 && errno != ENOENT)
		return error_set(err, errno,
		                 "%s: %s; set XDG_RUNTIME_DIR to a directory of yours (mode 700), "
		                 "where sessions are found",
		                 path, strerror(errno));
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	rc = folder_check(fd, path, err);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int session_directory_open(char **path, bool make, struct error *err)
{
	bool said;
	char *above = above_choose(&said);
	int at = above_open(above, said, err), fd = at;

	*path = xasprintf("%s/" FOLDER, above);
	if (at >= 0) {
		fd = folder_open(at, *path, make, err);
		close(at);
	}
	free(above);
	if (fd < 0) {
		free(*path);
		*path = NULL;
	}
	return fd;
}
