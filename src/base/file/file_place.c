/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/file_place.h"

#include "base/file/safe_directory.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of bytes up to the last slash of a path, which is included; 0: there is none. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool same_directory(const struct file_place *held, const char *path)
{
	size_t length = directory_length(path);

	return held && held->directory >= 0 && directory_length(held->path) == length &&
	       !strncmp(held->path, path, length);
}

static int refused(int code, const char *why, struct error *err)
{
	if (code == EPERM || code == ELOOP)
		return error_set(err, code, "%s", why);
	return error_set(err, code, "%s", strerror(code));
}

int file_place_open(struct file_place *p, const char *path, const struct file_place *held,
                    struct error *err)
{
	struct error why = {0};
	const char *name;
	int fd;

	if (!strcmp(path, "-")) {
		*p = (struct file_place){.directory = -1};
		return error_set(err, EINVAL, "- is no file name here; ./- is one");
	}
	if (same_directory(held, path)) {
		fd = fcntl(held->directory, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = safe_directory_of(path, SAFE_DIRECTORY_SUDO, &name, NULL, &why);
	}
	*p = (struct file_place){.directory = -1};
	if (fd < 0)
		return refused(-fd, why.text, err);
	p->directory = fd;
	p->path = xstrdup(path);
	p->name = p->path + directory_length(path);
	if (!*p->name)
		p->name = ".";
	return 0;
}

void file_place_close(struct file_place *p)
{
	if (p->directory < 0)
		return;
	close(p->directory);
	free(p->path);
	*p = (struct file_place){.directory = -1};
}

int file_place_stat(const struct file_place *p, const char *name, struct stat *st)
{
	return fstatat(p->directory, name, st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

bool file_place_is_moved(const struct file_place *p)
{
	size_t length = directory_length(p->path);
	char *directory = length ? xstrndup(p->path, length) : xstrdup(".");
	struct stat held, now;
	bool moved = fstat(p->directory, &held) || stat(directory, &now) ||
	             held.st_dev != now.st_dev || held.st_ino != now.st_ino;

	free(directory);
	return moved;
}

char *file_place_now(const struct file_place *p, const char *name)
{
	char self[64], target[PATH_MAX + 1];
	ssize_t size;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", p->directory);
	size = readlink(self, target, PATH_MAX);
	if (size <= 0)
		return xstrdup(p->path);
	target[size] = '\0';
	return xasprintf("%s/%s", strcmp(target, "/") ? target : "", name);
}
