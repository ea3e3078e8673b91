/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debuginfod.h"

#include "base/file/cache_dir.h"
#include "base/limit.h"
#include "base/library.h"
#include "image/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Interval of requests for a missing file: the default of the library. */
#define ASK_AGAIN_SECONDS 600
#define CACHE_KIND "debuginfod"
#define FREE_PART 10 /* this part of the disk stays free, up to a limit */
/* Directory of the library while files are fetched. No file of the cache has such a name. */
#define FETCH_FOLDER ".fetch"
#define FOLDER_OPEN_FILES 8

/* Functions of libdebuginfod, by their stable names. */
struct debuginfod_library {
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int size, char **path);
};

/* The path of the library's cache, by the rule of the library, where other programs fetch files. */
static char *library_cache_path(void)
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
	/* The server chose the paths in it. */
	elf_file_named_too(*f, file_namer_unknown);
	if (locate_same_build_id(id, elf_file_build_id(*f)))
		return DEBUGINFOD_HERE;
	elf_file_close(*f);
	*f = NULL;
	return DEBUGINFOD_NOWHERE;
}

static enum debuginfod_state open_own(struct elf_file **f, const char *name,
                                      const struct build_id *id)
{
	enum debuginfod_state state = DEBUGINFOD_UNASKED;
	struct cache_dir *cache;
	char *path;
	int used;

	if (cache_dir_open(&cache, NULL))
		return state;
	path = cache_dir_path(cache, CACHE_KIND, name);
	if (path)
		state = open_cached(f, path, id);
	used = state == DEBUGINFOD_HERE ? cache_dir_find(cache, CACHE_KIND, name) : -1;
	if (used >= 0)
		close(used);
	free(path);
	cache_dir_close(cache);
	return state;
}

enum debuginfod_state debuginfod_cached(struct elf_file **f, const struct build_id *id)
{
	char name[2 * BUILD_ID_MAX + 1], *folder, *path;
	enum debuginfod_state state;

	*f = NULL;
	build_id_text(id, name);
	state = open_own(f, name, id);
	folder = state == DEBUGINFOD_UNASKED ? library_cache_path() : NULL;
	if (!folder)
		return state;
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
	alarm(LIMIT_DEBUGINFOD_ALL_S);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	remove(path);
	return 0;
}

/* What a file may have: a second copy exists while it is moved into the cache. */
static uint64_t file_limit(const char *folder)
{
	struct statvfs disk;
	uint64_t free_bytes, kept;

	if (statvfs(folder, &disk))
		return 0;
	free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	kept = (uint64_t)disk.f_blocks * disk.f_frsize / FREE_PART;
	kept = kept < LIMIT_DEBUGINFOD_FREE_BYTES ? kept : LIMIT_DEBUGINFOD_FREE_BYTES;
	free_bytes = free_bytes > kept ? (free_bytes - kept) / 2 : 0;
	return free_bytes < LIMIT_DEBUGINFOD_FILE_BYTES ? free_bytes : LIMIT_DEBUGINFOD_FILE_BYTES;
}

/* A write beyond the limit fails, whatever size the server announced. */
static void set_file_limit(uint64_t bytes)
{
	struct rlimit limit;
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	setenv("DEBUGINFOD_MAXSIZE", text, 1);
	if (getrlimit(RLIMIT_FSIZE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < bytes ? limit.rlim_max : bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* A value of the user has precedence. */
static void set_seconds(const char *variable, int seconds)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", seconds);
	setenv(variable, text, 0);
}

/* An empty file stands for one that no server has, or that is too large. */
static void fetch_one(const struct debuginfod_library *l, void *client, struct cache_dir *cache,
                      const char *folder, const struct build_id *id)
{
	uint64_t limit = file_limit(folder);
	char name[2 * BUILD_ID_MAX + 1], *path = NULL;
	int fd;

	if (!limit)
		return;
	set_file_limit(limit);
	fd = l->find(client, id->bytes, id->size, &path);
	build_id_text(id, name);
	if (fd >= 0)
		cache_dir_keep_file(cache, CACHE_KIND, name, fd, NULL);
	else if (fd == -ENOENT || fd == -EFBIG || fd == -EIO)
		cache_dir_keep(cache, CACHE_KIND, name, NULL, 0, NULL);
	if (fd >= 0)
		close(fd);
	free(path);
	cache_dir_trim(cache, CACHE_KIND, LIMIT_DEBUGINFOD_CACHE_BYTES);
	nftw(folder, remove_entry, FOLDER_OPEN_FILES, FTW_DEPTH | FTW_PHYS);
}

static void fetch_all(const struct debuginfod_library *l, struct cache_dir *cache,
                      const struct build_id *ids, size_t count, const char *urls)
{
	char *folder = cache_dir_path(cache, CACHE_KIND, "x");
	void *client;
	int lock;

	/* An empty entry makes the directory of the kind. */
	if (!folder || cache_dir_keep(cache, CACHE_KIND, "x", NULL, 0, NULL))
		return;
	cache_dir_remove(cache, CACHE_KIND, "x");
	*strrchr(folder, '/') = 0;
	lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB))
		return;
	folder = xasprintf("%s/" FETCH_FOLDER, folder);
	nftw(folder, remove_entry, FOLDER_OPEN_FILES, FTW_DEPTH | FTW_PHYS);
	setenv("DEBUGINFOD_CACHE_PATH", folder, 1);
	setenv("DEBUGINFOD_URLS", urls, 1);
	set_seconds("DEBUGINFOD_TIMEOUT", LIMIT_DEBUGINFOD_SILENT_S);
	set_seconds("DEBUGINFOD_MAXTIME", LIMIT_DEBUGINFOD_FILE_S);
	unsetenv("DEBUGINFOD_PROGRESS");
	signal(SIGXFSZ, SIG_IGN);
	client = l->begin();
	for (size_t i = 0; client && i < count; i++)
		if (!mkdir(folder, 0700) || errno == EEXIST)
			fetch_one(l, client, cache, folder, &ids[i]);
}

int debuginfod_fetch(const struct build_id *ids, size_t count, const char *urls, struct error *err)
{
	struct debuginfod_library l = {0};
	struct cache_dir *cache = NULL;
	int status = load_library(&l, err);
	pid_t pid;

	if (!status)
		status = cache_dir_open(&cache, err);
	if (status)
		return status;
	cache_dir_close(cache);
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
	/* Opened again, since all descriptors were closed. */
	if (!cache_dir_open(&cache, NULL))
		fetch_all(&l, cache, ids, count, urls);
	_exit(0);
}
