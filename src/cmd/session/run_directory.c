/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/run_directory.h"

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

static int fail(const struct run_directory *d, const char *path, const char *what)
{
	return command_fail(1, "%s: %s: %s: %s", d->command, path, what, strerror(errno));
}

/* "a12.data" */
static bool is_run(const struct run_directory *d, const char *name)
{
	for (const struct run_files *f = d->files; f->prefix; f++) {
		size_t length = strlen(f->prefix), digits;

		if (strncmp(name, f->prefix, length) != 0)
			continue;
		digits = strspn(name + length, "0123456789");
		if (digits && !strcmp(name + length + digits, f->suffix))
			return true;
	}
	return false;
}

typedef VEC(char *) names;

static int find_runs(const struct run_directory *d, names *found)
{
	DIR *directory = opendir(d->path);
	struct dirent *entry;

	if (!directory)
		return fail(d, d->path, "the directory cannot be read");
	while ((entry = readdir(directory)) != NULL)
		if (is_run(d, entry->d_name))
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
static int move_away(const struct run_directory *d, const names *found)
{
	char *old = make_old(d->path);
	int status = 0;

	if (!old)
		return fail(d, d->path,
		            "no directory for the older recordings can be created in it");
	vec_each (name, found) {
		char *from = xasprintf("%s/%s", d->path, *name),
		     *to = xasprintf("%s/%s", old, *name);

		if (!status && rename(from, to))
			status = fail(d, from, "the older recording cannot be moved");
		free(from);
		free(to);
	}
	if (!status)
		print_message("the older recordings in %s are in %s now", d->path, old);
	free(old);
	return status;
}

static int use(const struct run_directory *d)
{
	names found = {0};
	int status;

	if (mkdir(d->path, 0700) && errno != EEXIST)
		return fail(d, d->path, "the directory for the recordings cannot be created");
	status = find_runs(d, &found);
	if (!status && found.count)
		status = move_away(d, &found);
	vec_each (name, &found)
		free(*name);
	vec_done(&found);
	return status;
}

int run_directory_open(struct run_directory *d, const char *command, const struct run_files *files,
                       const char *keep)
{
	const char *top = getenv("TMPDIR");

	*d = (struct run_directory){.kept = keep != NULL, .command = command, .files = files};
	if (keep) {
		d->path = xstrdup(keep);
		return use(d);
	}
	d->path = xasprintf("%s/assay-%s-XXXXXX", top && *top ? top : "/tmp", command);
	if (mkdtemp(d->path))
		return 0;
	fail(d, d->path, "the directory for the recordings cannot be created");
	free(d->path);
	d->path = NULL;
	return 1;
}

void run_directory_done(struct run_directory *d)
{
	if (d->path && !d->kept)
		rmdir(d->path);
	free(d->path);
	*d = (struct run_directory){0};
}

char *run_directory_file(const struct run_directory *d, int side, uint64_t number)
{
	return xasprintf("%s/%s%" PRIu64 "%s", d->path, d->files[side].prefix, number,
	                 d->files[side].suffix);
}
