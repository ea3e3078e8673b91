/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_directory.h"

#include "base/memory/vec.h"
#include "base/memory/xalloc.h"
#include "cmd/cli/print.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OLD_MAX 10000

static int fail(const char *path, const char *what)
{
	return command_fail(1, "diff: %s: %s: %s", path, what, strerror(errno));
}

/* "a12.data" */
static bool is_run(const char *name)
{
	size_t digits = *name == 'a' || *name == 'b' ? strspn(name + 1, "0123456789") : 0;

	return digits && !strcmp(name + 1 + digits, ".data");
}

typedef VEC(char *) names;

static int find_runs(const char *path, names *found)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	if (!directory)
		return fail(path, "the directory cannot be read");
	while ((entry = readdir(directory)) != NULL)
		if (is_run(entry->d_name))
			vec_push(found, xstrdup(entry->d_name));
	closedir(directory);
	return 0;
}

/* Makes the first DIR/old.N that does not exist. */
static char *make_old(const char *path)
{
	for (int i = 1; i <= OLD_MAX; i++) {
		char *old = xasprintf("%s/old.%d", path, i);

		if (!mkdir(old, 0700))
			return old;
		free(old);
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

/* Runs of an earlier series must neither be overwritten nor count as runs of this one. */
static int move_away(const char *path, const names *found)
{
	char *old = make_old(path);
	int status = 0;

	if (!old)
		return fail(path, "no directory for the older recordings can be created in it");
	vec_each (name, found) {
		char *from = xasprintf("%s/%s", path, *name), *to = xasprintf("%s/%s", old, *name);

		if (!status && rename(from, to))
			status = fail(from, "the older recording cannot be moved");
		free(from);
		free(to);
	}
	if (!status)
		print_message("the older recordings in %s are in %s now", path, old);
	free(old);
	return status;
}

static int use(const char *path)
{
	names found = {0};
	int status;

	if (mkdir(path, 0700) && errno != EEXIST)
		return fail(path, "the directory for the recordings cannot be created");
	status = find_runs(path, &found);
	if (!status && found.count)
		status = move_away(path, &found);
	vec_each (name, &found)
		free(*name);
	vec_done(&found);
	return status;
}

int diff_directory_open(struct diff_directory *d, const char *keep)
{
	const char *top = getenv("TMPDIR");

	d->kept = keep != NULL;
	if (keep) {
		d->path = xstrdup(keep);
		return use(keep);
	}
	d->path = xasprintf("%s/assay-diff-XXXXXX", top && *top ? top : "/tmp");
	if (mkdtemp(d->path))
		return 0;
	fail(d->path, "the directory for the recordings cannot be created");
	free(d->path);
	d->path = NULL;
	return 1;
}

void diff_directory_done(struct diff_directory *d)
{
	if (d->path && !d->kept)
		rmdir(d->path);
	free(d->path);
	*d = (struct diff_directory){0};
}

char *diff_directory_file(const struct diff_directory *d, char side, uint64_t number)
{
	return xasprintf("%s/%c%" PRIu64 ".data", d->path, side, number);
}
