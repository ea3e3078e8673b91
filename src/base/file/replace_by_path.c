/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/replace_by_path.h"

#include "base/file/file_copy.h"
#include "base/file/safe_directory.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For users other than root, only processes of the same user can replace the directory. */
static bool is_ours(const char *path)
{
	const char *name;
	int fd = geteuid() ? -1 : safe_directory_of(path, SAFE_DIRECTORY_OURS, &name, NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || geteuid();
}

static int make_aside(struct replace_by_path *r, struct error *err)
{
	int fd;

	r->directory = xstrdup("/var/tmp/assay-XXXXXX");
	if (!mkdtemp(r->directory)) {
		free(r->directory);
		r->directory = NULL;
		return error_set(err, errno, "/var/tmp: no directory can be made in it: %s",
		                 strerror(errno));
	}
	r->path = xasprintf("%s/file", r->directory);
	fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, errno, "cannot create %s: %s", r->path, strerror(errno));
	close(fd);
	return 0;
}

int replace_by_path_begin(struct replace_by_path *r, const char *path, struct error *err)
{
	int status;

	*r = (struct replace_by_path){.fd = -1, .file.place.directory = -1};
	status = replacement_begin(&r->file, path, NULL, err);
	if (status < 0)
		return status;
	r->fd = status;
	if (!is_ours(path)) {
		status = make_aside(r, err);
		return status ? replace_by_path_end(r, status, err) : 0;
	}
	close(r->fd);
	r->fd = -1;
	r->path = xasprintf("%.*s%s", (int)(r->file.place.name - r->file.place.path), path,
	                    r->file.part);
	return 0;
}

static int copy_back(const struct replace_by_path *r, struct error *err)
{
	int from = open(r->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int status = from < 0 ? -errno : file_copy(from, r->fd);

	if (from >= 0)
		close(from);
	return status ? error_set(err, -status, "%s cannot be written: %s", r->file.place.path,
	                          strerror(-status))
	              : 0;
}

int replace_by_path_end(struct replace_by_path *r, int status, struct error *err)
{
	if (!status && r->fd >= 0)
		status = copy_back(r, err);
	if (r->directory) {
		if (r->path)
			unlink(r->path);
		rmdir(r->directory);
	}
	if (r->fd >= 0)
		close(r->fd);
	if (!status)
		status = replacement_put(&r->file, err);
	replacement_discard(&r->file);
	free(r->directory);
	free(r->path);
	*r = (struct replace_by_path){.fd = -1, .file.place.directory = -1};
	return status;
}
