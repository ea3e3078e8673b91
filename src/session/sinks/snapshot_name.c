/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sinks/snapshot_name.h"

#include "base/file/file_place.h"
#include "base/text/base_name.h"

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

static bool is_taken(const struct file_place *p, const char *path)
{
	struct stat st;

	/* A file that cannot be checked is not overwritten. */
	return file_place_stat(p, base_name(path), &st) != -ENOENT;
}

/* The caller frees the name. NULL: an error was set. */
static char *free_name(const struct snapshot_names *n, const struct file_place *p, const char *when,
                       struct error *err)
{
	char *path = xasprintf("%s-%s", n->path, when);

	for (unsigned i = 2; is_taken(p, path); i++) {
		free(path);
		if (i > SAME_SECOND_MAX) {
			error_set(err, EEXIST,
			          "there are already %d files named %s-%s, or the directory cannot "
			          "be read; name the snapshot with -o",
			          SAME_SECOND_MAX, n->path, when);
			return NULL;
		}
		path = xasprintf("%s-%s-%u", n->path, when, i);
	}
	return path;
}

int snapshot_names_next(const struct snapshot_names *n, int64_t wall_s, char **path,
                        struct error *err)
{
	time_t seconds = (time_t)wall_s;
	struct tm local = {0};
	struct file_place place;
	struct error why = {0};
	char when[32];
	int status;

	*path = NULL;
	if (strstr(n->path, "://"))
		return error_set(err, EINVAL,
		                 "%s is on a server, not a file; name the snapshot with -o",
		                 n->path);
	if (!localtime_r(&seconds, &local) ||
	    !strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &local))
		return error_set(err, EINVAL,
		                 "the clock shows no valid time for the name of a "
		                 "file; name the snapshot with -o");
	status = file_place_open(&place, n->path, NULL, &why);
	if (status)
		return error_set(err, -status, "%s: %s; name the snapshot with -o", n->path,
		                 why.text);
	*path = free_name(n, &place, when, err);
	file_place_close(&place);
	return *path ? 0 : -EEXIST;
}

/* Deletes the oldest snapshot if it is still the same file. Returns its name, or NULL. */
static char *drop_oldest(struct snapshot_names *n)
{
	struct snapshot_made oldest = n->made.items[0];
	struct file_place place;
	struct stat st;
	bool gone;

	n->made.count--;
	memmove(n->made.items, n->made.items + 1, n->made.count * sizeof(*n->made.items));
	gone = !file_place_open(&place, oldest.path, NULL, NULL) &&
	       !file_place_stat(&place, place.name, &st) && st.st_dev == oldest.device &&
	       st.st_ino == oldest.inode && !unlinkat(place.directory, place.name, 0);
	file_place_close(&place);
	if (gone)
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
