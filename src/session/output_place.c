/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/output_place.h"

#include <errno.h>
#include <sys/stat.h>

void output_place_watch(struct output_place *p, const char *path)
{
	struct stat now;

	*p = (struct output_place){0};
	if (!lstat(path, &now))
		*p = (struct output_place){path, now.st_dev, now.st_ino};
}

bool output_place_is_gone(const struct output_place *p)
{
	struct stat now;

	return p->path &&
	       (lstat(p->path, &now) || now.st_ino != p->inode || now.st_dev != p->device);
}

int output_place_check(const struct output_place *p, struct error *err)
{
	if (!output_place_is_gone(p))
		return 0;
	return error_set(err, ENOENT,
	                 "%s was moved, deleted or replaced while it was written: what was "
	                 "recorded is not there",
	                 p->path);
}
