/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/output_watch.h"

#include <errno.h>
#include <sys/stat.h>

void output_watch_watch(struct output_watch *p, const char *path)
{
	struct stat now;

	*p = (struct output_watch){0};
	if (!lstat(path, &now))
		*p = (struct output_watch){path, now.st_dev, now.st_ino};
}

bool output_watch_is_gone(const struct output_watch *p)
{
	struct stat now;

	return p->path &&
	       (lstat(p->path, &now) || now.st_ino != p->inode || now.st_dev != p->device);
}

int output_watch_check(const struct output_watch *p, struct error *err)
{
	if (!output_watch_is_gone(p))
		return 0;
	return error_set(err, ENOENT,
	                 "%s was moved, deleted or replaced while it was written: the "
	                 "recording is no longer at that path",
	                 p->path);
}
