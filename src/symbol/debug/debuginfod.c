/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debuginfod.h"

#include "base/library.h"
#include "image/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Interval of requests for a missing file: the default of the library. */
#define ASK_AGAIN_SECONDS 600
#define FETCH_SECONDS 1800       /* all files together */
#define FILE_SECONDS_TEXT "600"  /* one file */
#define SILENT_SECONDS_TEXT "30" /* time limit for a server that sends nothing */

/* Functions of libdebuginfod, by their stable names. */
struct debuginfod_library {
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int size, char **path);
};

/* The path of the library's cache, by the rule of the library. */
static char *cache_path(void)
{
	const char *chosen = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME");
	const char *xdg = getenv("XDG_CACHE_HOME");
	char *old = home ? xasprintf("%s/.debuginfod_client_cache", home) : NULL;
	struct stat st;

	if (chosen && *chosen) {
		free(old);
		return xstrdup(chosen);
	}
	if (old && !stat(old, &st))
		return old;
	free(old);
	if (xdg && *xdg)
		return xasprintf("%s/debuginfod_client", xdg);
	return home ? xasprintf("%s/.cache/debuginfod_client", home) : NULL;
}

/* An empty file in the cache means that no server had the file. */
static enum debuginfod_state open_cached(struct elf_file **f, const char *path,
                                         const struct build_id *id)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return DEBUGINFOD_UNASKED;
	if (!st.st_size)
		return time(NULL) - st.st_mtime < ASK_AGAIN_SECONDS ? DEBUGINFOD_NOWHERE
		                                                    : DEBUGINFOD_UNASKED;
	if (elf_file_open(f, path, NULL))
		return DEBUGINFOD_UNASKED;
	if (locate_same_build_id(id, elf_file_build_id(*f)))
		return DEBUGINFOD_HERE;
	elf_file_close(*f);
	*f = NULL;
	return DEBUGINFOD_NOWHERE;
}

enum debuginfod_state debuginfod_cached(struct elf_file **f, const struct build_id *id)
{
	char name[2 * BUILD_ID_MAX + 1], *folder = cache_path(), *path;
	enum debuginfod_state state;

	*f = NULL;
	if (!folder)
		return DEBUGINFOD_UNASKED;
	build_id_text(id, name);
	path = xasprintf("%s/%s/debuginfo", folder, name);
	state = open_cached(f, path, id);
	free(path);
	free(folder);
	return state;
}

static int load_library(struct debuginfod_library *l, struct error *err)
{
	void *library = library_open("libdebuginfod.so.1");
	bool all;

	if (!library)
		return error_set(err, ENOENT,
		                 "debug files cannot be fetched without libdebuginfod, which is "
		                 "not installed (Debian: libdebuginfod1)");
	all = library_find(library, "debuginfod_begin", &l->begin);
	all &= library_find(library, "debuginfod_find_debuginfo", &l->find);
	if (!all)
		return error_set(err, ENOENT,
		                 "libdebuginfod.so.1 does not have the expected functions");
	return 0;
}

/* Closes all descriptors of assay, since a reader of its output waits until all are closed. */
static void detach(void)
{
	int nowhere = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; nowhere >= 0 && fd < 3; fd++)
		dup2(nowhere, fd);
	close_range(3, ~0U, 0);
	if (chdir("/"))
		_exit(1);
	signal(SIGALRM, SIG_DFL);
	alarm(FETCH_SECONDS);
}

static void fetch_all(const struct debuginfod_library *l, const struct build_id *ids, size_t count,
                      const char *urls)
{
	void *client;
	char *path;
	int fd;

	setenv("DEBUGINFOD_URLS", urls, 1);
	setenv("DEBUGINFOD_TIMEOUT", SILENT_SECONDS_TEXT, 0);
	setenv("DEBUGINFOD_MAXTIME", FILE_SECONDS_TEXT, 0);
	unsetenv("DEBUGINFOD_PROGRESS");
	client = l->begin();
	for (size_t i = 0; client && i < count; i++) {
		path = NULL;
		fd = l->find(client, ids[i].bytes, ids[i].size, &path);
		if (fd >= 0)
			close(fd);
		free(path);
	}
}

int debuginfod_fetch(const struct build_id *ids, size_t count, const char *urls, struct error *err)
{
	struct debuginfod_library l = {0};
	int status = load_library(&l, err);
	pid_t pid;

	if (status)
		return status;
	pid = fork();
	if (pid < 0)
		return error_set(err, errno, "debug files cannot be fetched: fork: %s",
		                 strerror(errno));
	if (pid) {
		waitpid(pid, NULL, 0);
		return 0;
	}
	/* A grandchild does the work, so that no process has to wait for it. */
	if (fork())
		_exit(0);
	detach();
	fetch_all(&l, ids, count, urls);
	_exit(0);
}
