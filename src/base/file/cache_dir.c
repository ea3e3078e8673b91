/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/cache_dir.h"

#include "base/file/file_copy.h"
#include "base/file/safe_directory.h"
#include "base/memory/vec.h"
#include "base/file/write_all.h"
#include "base/memory/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Prefix of a file that is being written. No name of a caller begins with it. */
#define ASIDE_PREFIX ".new-"
#define ASIDE_TRIES 16

#define MARK_SECONDS 3600 /* precision of the time of last use: most lookups write nothing */
#define STALE_SECONDS 60  /* a writer locks its file within this time */

struct cache_dir {
	int fd;
	char *path;
};

/* A file that is being written; put_in_place() gives it its name. */
struct cache_dir_helper_thread {
	int directory, fd;
	char name[sizeof(ASIDE_PREFIX) + 16];
};

static bool is_name(const char *name)
{
	size_t length = strlen(name);

	return length && length <= NAME_MAX && name[0] != '.' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
	               length;
}

/* Checks that only this user (or root) can have written to the directory. */
static int check_ours(int fd, mode_t type)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if ((st.st_mode & S_IFMT) != type || st.st_uid != geteuid() || st.st_mode & 022)
		return -EPERM;
	return 0;
}

/* A directory of this user in `at`; it is created if it is missing and the caller wants it. */
static int open_ours(int parent, const char *name, bool make)
{
	int fd, r;

	if (make && mkdirat(parent, name, 0700) && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = check_ours(fd, S_IFDIR);
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

/*
 * False for a home directory of another user, which sudo may leave in HOME: that user could not use
 * a directory that root creates there.
 */
static bool may_make_in(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_uid == geteuid() || st.st_uid == 0);
}

/* The XDG specification: a path that is not absolute is ignored. */
static char *parent_path(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return xstrdup(cache);
	if (home && home[0] == '/')
		return xasprintf("%s/.cache", home);
	return NULL;
}

/* ENOTDIR and ELOOP: for example, a symbolic link in its place. */
static bool is_refused(int r)
{
	return r == -EPERM || r == -ELOOP || r == -ENOTDIR;
}

/* `why`: the reason; NULL: other users can write to it. */
static int no_cache(struct error *err, int r, const char *path, const char *why)
{
	if (is_refused(r))
		return error_set(err, -r,
		                 "%s: not used as a cache: %s; XDG_CACHE_HOME names another "
		                 "directory",
		                 path,
		                 why ? why : "it is not a directory that only you can write to");
	return error_set(err, -r, "%s: cannot be used as a cache: %s", path, strerror(-r));
}

static int open_below(struct cache_dir *c, const char *parent, struct error *err)
{
	struct error why = {0};
	int fd = safe_directory_open(parent, SAFE_DIRECTORY_MAKE | SAFE_DIRECTORY_OURS, NULL, &why);

	if (fd < 0)
		return no_cache(err, fd, parent, why.text);
	c->fd = open_ours(fd, "assay", false);
	if (c->fd == -ENOENT)
		c->fd = may_make_in(fd) ? open_ours(fd, "assay", true) : -EPERM;
	close(fd);
	return c->fd < 0 ? no_cache(err, c->fd, c->path, NULL) : 0;
}

int cache_dir_open(struct cache_dir **out, struct error *err)
{
	char *parent = parent_path();
	struct cache_dir *c;
	int r;

	*out = NULL;
	if (!parent)
		return error_set(err, ENOENT, "no cache: neither XDG_CACHE_HOME nor HOME is set");
	c = xcalloc(1, sizeof(*c));
	c->fd = -1;
	c->path = xasprintf("%s/assay", parent);
	r = open_below(c, parent, err);
	free(parent);
	if (r) {
		cache_dir_close(c);
		return r;
	}
	*out = c;
	return 0;
}

void cache_dir_close(struct cache_dir *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c->path);
	free(c);
}

char *cache_dir_path(const struct cache_dir *c, const char *kind, const char *name)
{
	if (!c || !is_name(kind) || !is_name(name))
		return NULL;
	return xasprintf("%s/%s/%s", c->path, kind, name);
}

static int open_kind(struct cache_dir *c, const char *kind, bool make)
{
	if (!is_name(kind))
		return -EINVAL;
	return open_ours(c->fd, kind, make);
}

/* The modification time of a file is the time of its last use. */
static void mark_used(int fd)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
	time_t now = time(NULL);
	struct stat st;

	if (!fstat(fd, &st) && (st.st_mtime > now || now - st.st_mtime > MARK_SECONDS))
		futimens(fd, times);
}

int cache_dir_find(struct cache_dir *c, const char *kind, const char *name)
{
	int directory, fd, r;

	if (!c)
		return -ENOENT;
	if (!is_name(name))
		return -EINVAL;
	directory = open_kind(c, kind, false);
	if (directory < 0)
		return directory;
	/* O_NONBLOCK, since the name may be that of a FIFO. */
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	r = fd < 0 ? -errno : check_ours(fd, S_IFREG);
	close(directory);
	if (r) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	mark_used(fd);
	return fd;
}

void *cache_dir_map(struct cache_dir *c, const char *kind, const char *name, uint64_t least,
                    uint64_t most, size_t *size)
{
	int fd = cache_dir_find(c, kind, name);
	void *contents = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (uint64_t)st.st_size >= least && (uint64_t)st.st_size <= most) {
		*size = (size_t)st.st_size;
		contents = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	}
	close(fd);
	return contents == MAP_FAILED ? NULL : contents;
}

static int helper_thread_open(struct cache_dir_helper_thread *a, int directory)
{
	a->directory = directory;
	for (int i = 0; i < ASIDE_TRIES; i++) {
		uint64_t random = 0;

		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
			random = (uint64_t)getpid() << 32 | (uint32_t)clock() << 4 | i;
		snprintf(a->name, sizeof(a->name), ASIDE_PREFIX "%016llx",
		         (unsigned long long)random);
		a->fd = openat(directory, a->name,
		               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (a->fd < 0 && errno == EEXIST)
			continue;
		if (a->fd < 0)
			return -errno;
		/* The lock ends with this process: cache_dir_trim() removes unlocked files. */
		flock(a->fd, LOCK_EX | LOCK_NB);
		return 0;
	}
	return -EEXIST;
}

/* Renames the file to its name, or removes it after an error. */
static int helper_thread_close(struct cache_dir_helper_thread *a, const char *name, int r)
{
	if (!r && renameat(a->directory, a->name, a->directory, name))
		r = -errno;
	if (r)
		unlinkat(a->directory, a->name, 0);
	close(a->fd);
	return r;
}

/* Writes the bytes, or if `bytes` is NULL a copy of the file `from`. */
static int keep(struct cache_dir *c, const char *kind, const char *name, const void *bytes,
                size_t size, int from, struct error *err)
{
	struct cache_dir_helper_thread a;
	int directory, r;

	if (!c)
		return 0;
	if (!is_name(name) || !is_name(kind))
		return error_set(err, EINVAL, "\"%s/%s\" cannot be a name in the cache", kind,
		                 name);
	directory = open_kind(c, kind, true);
	if (directory < 0) {
		char *path = xasprintf("%s/%s", c->path, kind);

		r = no_cache(err, directory, path, NULL);
		free(path);
		return r;
	}
	r = helper_thread_open(&a, directory);
	if (!r)
		r = helper_thread_close(
		        &a, name, bytes ? write_all(a.fd, bytes, size) : file_copy(from, a.fd));
	close(directory);
	if (r)
		return error_set(err, -r, "%s/%s/%s: cannot be kept: %s", c->path, kind, name,
		                 strerror(-r));
	return 0;
}

int cache_dir_keep(struct cache_dir *c, const char *kind, const char *name, const void *bytes,
                   size_t size, struct error *err)
{
	return keep(c, kind, name, bytes ? bytes : "", bytes ? size : 0, -1, err);
}

int cache_dir_keep_file(struct cache_dir *c, const char *kind, const char *name, int fd,
                        struct error *err)
{
	return keep(c, kind, name, NULL, 0, fd, err);
}

void cache_dir_remove(struct cache_dir *c, const char *kind, const char *name)
{
	int directory;

	if (!c || !is_name(name))
		return;
	directory = open_kind(c, kind, false);
	if (directory < 0)
		return;
	unlinkat(directory, name, 0);
	close(directory);
}

struct cache_dir_kept {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

struct kept_list {
	VEC(struct cache_dir_kept) files;
	uint64_t bytes;
};

/* A file without a lock belongs to a writer that has exited. */
static void remove_stale(int directory, const char *name, const struct stat *st)
{
	time_t now = time(NULL);
	int fd;

	if (st->st_mtime <= now && now - st->st_mtime < STALE_SECONDS)
		return;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(directory, name, 0);
	close(fd);
}

static void list_one(struct kept_list *list, int directory, const char *name)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (!strncmp(name, ASIDE_PREFIX, strlen(ASIDE_PREFIX))) {
		remove_stale(directory, name, &st);
		return;
	}
	if (!is_name(name))
		return;
	list->bytes += (uint64_t)st.st_size;
	vec_push(&list->files,
	         (struct cache_dir_kept){xstrdup(name), (uint64_t)st.st_size, st.st_mtim});
}

static int by_use(const void *a, const void *b)
{
	const struct cache_dir_kept *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void trim_list(struct kept_list *list, int directory, uint64_t bytes)
{
	if (list->bytes > bytes)
		qsort(list->files.items, list->files.count, sizeof(struct cache_dir_kept), by_use);
	vec_each (file, &list->files) {
		if (list->bytes > bytes && !unlinkat(directory, file->name, 0))
			list->bytes -= file->bytes;
		free(file->name);
	}
	vec_done(&list->files);
}

void cache_dir_trim(struct cache_dir *c, const char *kind, uint64_t bytes)
{
	struct kept_list list = {0};
	struct dirent *entry;
	int directory;
	DIR *d;

	directory = c ? open_kind(c, kind, false) : -1;
	if (directory < 0)
		return;
	d = fdopendir(directory);
	if (!d) {
		close(directory);
		return;
	}
	while ((entry = readdir(d)))
		list_one(&list, directory, entry->d_name);
	trim_list(&list, directory, bytes);
	closedir(d);
}
