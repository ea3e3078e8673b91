/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/run_directory.h"

#include "base/memory/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "run-"
#define MARK "reset"
#define NESTED_MAX 4 /* `assay calls -- assay calls -- ...` */

static bool is_own_directory(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static void mark_remove(const char *directory)
{
	char *mark = xasprintf("%s/" MARK, directory);

	unlink(mark);
	free(mark);
}

/* Links to memory that a killed session had handed out, and that is gone (table_handout.h). */
static void links_remove(const char *path)
{
	const struct dirent *entry;
	struct stat st;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISLNK(st.st_mode))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* Removes the directory of a killed session, if it is empty. */
static void sweep(const char *path, const char *name)
{
	long pid = strtol(name + strlen(PREFIX), NULL, 10);

	if (pid <= 0 || pid > INT32_MAX || !kill((pid_t)pid, 0) || errno != ESRCH)
		return;
	mark_remove(path); /* no process needs the mark */
	links_remove(path);
	rmdir(path);
}

static int walk(const char *directory, run_directory_fn *each, void *ctx, int depth,
                struct error *err)
{
	const struct dirent *entry;
	int rc = each(ctx, directory, err);
	DIR *dir;

	if (rc)
		return rc;
	dir = depth < NESTED_MAX ? opendir(directory) : NULL;
	while (dir && (entry = readdir(dir))) {
		char *path;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		path = xasprintf("%s/%s", directory, entry->d_name);
		/* A directory that is removed during the search is not an error. */
		if (is_own_directory(path) && !walk(path, each, ctx, depth + 1, NULL))
			sweep(path, entry->d_name);
		free(path);
	}
	if (dir)
		closedir(dir);
	return 0;
}

int run_directory_each(const char *base, run_directory_fn *each, void *ctx, struct error *err)
{
	return walk(base, each, ctx, 0, err);
}

static int nothing(void *ctx, const char *directory, struct error *err)
{
	return 0;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

int run_directory_begin(const struct shared_kind *kind, char **directory, struct error *err)
{
	char *base;
	struct error why = {0};
	int rc = shared_directory(kind, &base, true, &why);

	*directory = NULL;
	/* Another user may own the name /tmp/assay-UID; only this session needs the directory. */
	if (rc && (is_set(kind->variable) || is_set("XDG_RUNTIME_DIR") || !geteuid()))
		return error_set(err, -rc, "%s", why.text);
	if (rc)
		base = xstrdup("/tmp");
	else /* Searches for the directories of killed sessions. */
		walk(base, nothing, NULL, 0, NULL);
	*directory = xasprintf("%s/" PREFIX "%d-%sXXXXXX", base, (int)getpid(), rc ? "assay-" : "");
	if (mkdtemp(*directory)) { /* 0700 */
		rc = 0;
	} else {
		rc = rc ? error_set(err, -rc, "%s", why.text)
		        : error_set(err, errno, "%s: no directory can be created in it: %s", base,
		                    strerror(errno));
		free(*directory);
		*directory = NULL;
	}
	free(base);
	return rc;
}

void run_directory_mark(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *directory = xstrndup(file, slash ? (size_t)(slash - file) : 0);
	const char *name = strrchr(directory, '/');
	char *mark = xasprintf("%s/" MARK, directory);
	int fd;

	if (name && !strncmp(name + 1, PREFIX, strlen(PREFIX))) {
		fd = open(mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		sweep(directory, name + 1);
	}
	free(directory);
	free(mark);
}

bool run_directory_was_marked(const char *directory)
{
	char *mark = xasprintf("%s/" MARK, directory);
	bool there = !access(mark, F_OK);

	free(mark);
	return there;
}

bool run_directory_end(const char *directory)
{
	mark_remove(directory);
	return !rmdir(directory) || errno == ENOENT;
}
