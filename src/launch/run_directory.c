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

/* Of a session whose usual directory belongs to another user. */
#define PLACE "/tmp"
#define PLACE_PREFIX "assay-"
#define PLACE_ENTRIES_MAX 65536 /* other users make files there, too */

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

/* True if the session that made the directory has ended. */
static bool is_left(const char *name)
{
	long pid = strtol(name + strlen(PREFIX), NULL, 10);

	return pid > 0 && pid <= INT32_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Removes the directory of a killed session, if it is empty. */
static void sweep(const char *path, const char *name)
{
	if (!is_left(name))
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

/* A directory with its files, and those of sessions in it. */
static void place_remove(int above, const char *name, int depth)
{
	int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat st;

	if (!dir && fd >= 0)
		close(fd);
	if (!dir)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid())
		while ((entry = readdir(dir)))
			if (unlinkat(fd, entry->d_name, 0) && depth < NESTED_MAX &&
			    !strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
				place_remove(fd, entry->d_name, depth + 1);
	closedir(dir);
	unlinkat(above, name, AT_REMOVEDIR);
}

/*
 * The directories that killed sessions of this user left in /tmp. Their files are removed, too,
 * since no command finds them there.
 */
static void places_sweep(void)
{
	DIR *dir = opendir(PLACE);
	const struct dirent *entry;
	struct stat st;

	for (size_t i = 0; dir && i < PLACE_ENTRIES_MAX && (entry = readdir(dir)); i++) {
		const char *end = entry->d_name + strlen(PREFIX);

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		end += strspn(end, "0123456789");
		if (!strncmp(end, "-" PLACE_PREFIX, strlen("-" PLACE_PREFIX)) &&
		    is_left(entry->d_name) &&
		    !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISDIR(st.st_mode) && st.st_uid == geteuid())
			place_remove(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
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
	places_sweep();
	if (rc)
		base = xstrdup(PLACE);
	else /* Searches for the directories of killed sessions. */
		walk(base, nothing, NULL, 0, NULL);
	*directory =
	        xasprintf("%s/" PREFIX "%d-%sXXXXXX", base, (int)getpid(), rc ? PLACE_PREFIX : "");
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
