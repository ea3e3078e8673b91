/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/snapshot_name.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SAME_SECOND_MAX 1000

void snapshot_names_init(struct snapshot_names *n, const char *path, unsigned most)
{
	*n = (struct snapshot_names){.path = xstrdup(path), .most = most ? most : SNAPSHOTS_MAX};
}

void snapshot_names_done(struct snapshot_names *n)
{
	vec_each (made, &n->made)
		free(made->path);
	vec_done(&n->made);
	free(n->path);
	n->path = NULL;
}

static bool is_taken(const char *path)
{
	struct stat st;

	/* What cannot be looked at is nothing to write over. */
	return !lstat(path, &st) || errno != ENOENT;
}

int snapshot_names_next(const struct snapshot_names *n, int64_t wall_s, char **path,
                        struct error *err)
{
	time_t seconds = (time_t)wall_s;
	struct tm local = {0};
	char when[32];

	*path = NULL;
	if (!localtime_r(&seconds, &local) ||
	    !strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &local))
		return error_set(err, EINVAL,
		                 "the clock shows no time that a file could be "
		                 "named after; name the snapshot with -o");
	*path = xasprintf("%s-%s", n->path, when);
	for (unsigned i = 2; is_taken(*path); i++) {
		free(*path);
		*path = NULL;
		if (i > SAME_SECOND_MAX)
			return error_set(err, EEXIST,
			                 "there are %d files called %s-%s already, or the "
			                 "directory cannot be read; name the snapshot with -o",
			                 SAME_SECOND_MAX, n->path, when);
		*path = xasprintf("%s-%s-%u", n->path, when, i);
	}
	return 0;
}

/* Takes away the oldest, if it is still what was written; its name, or NULL. */
static char *drop_oldest(struct snapshot_names *n)
{
	struct snapshot_made oldest = n->made.items[0];
	struct stat st;

	n->made.count--;
	memmove(n->made.items, n->made.items + 1, n->made.count * sizeof(*n->made.items));
	if (!lstat(oldest.path, &st) && st.st_dev == oldest.device && st.st_ino == oldest.inode &&
	    !unlink(oldest.path))
		return oldest.path;
	free(oldest.path);
	return NULL;
}

void snapshot_names_made(struct snapshot_names *n, const char *path, char **gone)
{
	struct snapshot_made made = {0};
	struct stat st;

	*gone = NULL;
	if (lstat(path, &st))
		return;
	made.path = xstrdup(path);
	made.device = st.st_dev;
	made.inode = st.st_ino;
	vec_push(&n->made, made);
	if (n->made.count > n->most)
		*gone = drop_oldest(n);
}
