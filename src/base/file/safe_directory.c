/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/safe_directory.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "base/read/file_namer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* the kernel's limit */

struct path_walk {
	int fd;          /* the directory reached so far, O_PATH */
	struct buf real; /* its path; "" is "/" */
	char *rest;      /* components still to be walked; owned */
	unsigned flags, links;
	const char *whole; /* the path as given, for messages */
	bool root;         /* this process's user is root */
};

bool safe_directory_trusts(uid_t user)
{
	struct stat st;

	/*
	 * The owner of "/": in a user namespace, the machine's root is neither uid 0 nor this user.
	 */
	return user == 0 || user == geteuid() || (!stat("/", &st) && user == st.st_uid);
}

static bool ran_sudo(uid_t user)
{
	const char *text = secure_getenv("SUDO_UID");
	char *end;
	unsigned long number = text && *text ? strtoul(text, &end, 10) : 0;

	return number && !*end && number == user;
}

static const char *real_text(const struct path_walk *w)
{
	return w->real.size ? buf_text(&w->real) : "/";
}

/*
 * Group write permission gives no other user access if the group is root's and the directory has no
 * ACL.
 */
static bool group_may_write(int fd, const struct stat *st)
{
	return (st->st_mode & S_IWGRP) && (st->st_gid != 0 || file_namer_has_acl(fd));
}

/* Checks SAFE_DIRECTORY_OURS for the current directory; `last`: it is the requested directory. */
static int check_ours(struct path_walk *w, bool last, struct error *err)
{
	struct stat st;
	bool sticky, open;

	if (!(w->flags & SAFE_DIRECTORY_OURS) || (!w->root && !last))
		return 0;
	if (fstat(w->fd, &st))
		return error_set(err, errno, "%s: %s", w->whole, strerror(errno));
	if (w->root && !safe_directory_trusts(st.st_uid))
		return error_set(err, EPERM,
		                 "the directory %s belongs to another user (uid %u), who could "
		                 "replace files in it",
		                 real_text(w), (unsigned)st.st_uid);
	sticky = (st.st_mode & S_ISVTX) && !(w->root && last && (w->flags & SAFE_DIRECTORY_CLOSED));
	open = (st.st_mode & S_IWOTH) || (w->root && group_may_write(w->fd, &st));
	if (!open || sticky)
		return 0;
	return error_set(err, EPERM,
	                 "other users may write to the directory %s (mode %04o), and could put "
	                 "files there",
	                 real_text(w), (unsigned)st.st_mode & 07777);
}

/* Makes `next` the current directory; `part` is its name in the previous directory. */
static void go_to(struct path_walk *w, int next, const char *part)
{
	const char *slash;

	close(w->fd);
	w->fd = next;
	if (strcmp(part, "..") != 0) {
		buf_addf(&w->real, "/%s", part);
		return;
	}
	slash = w->real.size ? strrchr(buf_text(&w->real), '/') : NULL;
	w->real.size = slash ? (size_t)(slash - w->real.data) : 0;
	if (w->real.data)
		w->real.data[w->real.size] = '\0';
}

static int go_to_root(struct path_walk *w)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	buf_clear(&w->real);
	return 0;
}

static bool is_of_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Checks whether a link in the current directory may be followed. */
static int check_link(const struct path_walk *w, const struct stat *st, const char *part,
                      struct error *err)
{
	struct stat above;

	if (safe_directory_trusts(st->st_uid))
		return 0;
	if (w->root ? (w->flags & SAFE_DIRECTORY_SUDO) && ran_sudo(st->st_uid)
	            : !fstat(w->fd, &above) && !(above.st_mode & S_IWOTH))
		return 0;
	return error_set(err, ELOOP,
	                 "the symbolic link %s/%s belongs to another user (uid %u), and is not "
	                 "followed",
	                 w->real.size ? real_text(w) : "", part, (unsigned)st->st_uid);
}

/* A link of /proc refers to an object, not to a path: the kernel follows it. */
static int follow_proc(struct path_walk *w, const char *part, struct error *err)
{
	int next;

	if (w->root && (w->flags & SAFE_DIRECTORY_OURS))
		return error_set(err, ELOOP, "%s: the link %s/%s of /proc is not followed",
		                 w->whole, real_text(w), part);
	next = openat(w->fd, part, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (next < 0)
		return error_set(err, errno, "%s: %s", w->whole, strerror(errno));
	go_to(w, next, part);
	return 0;
}

/*
 * `link` is an O_PATH descriptor of the link itself, so the link that is checked is the one that is
 * followed.
 */
static int follow(struct path_walk *w, int link, const char *part, struct error *err)
{
	char target[PATH_MAX + 1], *rest;
	struct stat st;
	ssize_t size;
	int status;

	if (fstat(link, &st))
		return error_set(err, errno, "%s: %s", w->whole, strerror(errno));
	if (!S_ISLNK(st.st_mode))
		return error_set(err, ENOTDIR, "%s: %s/%s is not a directory", w->whole,
		                 w->real.size ? real_text(w) : "", part);
	status = check_link(w, &st, part, err);
	if (status)
		return status;
	size = readlinkat(link, "", target, PATH_MAX);
	if (size <= 0 || size >= PATH_MAX || ++w->links > LINKS_MAX)
		return error_set(err, ELOOP, "%s: too many symbolic links", w->whole);
	target[size] = '\0';
	if (*target == '/' && is_of_proc(link))
		return follow_proc(w, part, err);
	if (*target == '/' && go_to_root(w))
		return error_set(err, errno, "%s: /: %s", w->whole, strerror(errno));
	rest = xasprintf("%s/%s", target, w->rest);
	free(w->rest);
	w->rest = rest;
	return *target == '/' ? check_ours(w, false, err) : 0;
}

/*
 * Creates a directory. Root creates none in a directory of another user, such as the home directory
 * that sudo leaves.
 */
static int make(struct path_walk *w, const char *part, struct error *err)
{
	struct stat st;

	if (!(w->flags & SAFE_DIRECTORY_MAKE))
		return error_set(err, ENOENT, "%s: %s", w->whole, strerror(ENOENT));
	if (w->root && (fstat(w->fd, &st) || !safe_directory_trusts(st.st_uid)))
		return error_set(err, EPERM,
		                 "no directory is made in %s, which belongs to another user "
		                 "(uid %u)",
		                 real_text(w), (unsigned)st.st_uid);
	if (mkdirat(w->fd, part, 0700) && errno != EEXIST)
		return error_set(err, errno, "cannot make %s/%s: %s",
		                 w->real.size ? real_text(w) : "", part, strerror(errno));
	return 0;
}

/* Walks one component; `w->rest` is the part of the path after it. */
static int step(struct path_walk *w, const char *part, struct error *err)
{
	/* O_DIRECTORY mounts an automount point. */
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(w->fd, part, flags), code = errno, status;

	if (fd < 0 && code == ENOENT) {
		status = make(w, part, err);
		if (status)
			return status;
		fd = openat(w->fd, part, flags);
		code = errno;
	}
	if (fd >= 0) {
		go_to(w, fd, part);
		return check_ours(w, false, err);
	}
	if (code == ENOTDIR || code == ELOOP)
		fd = openat(w->fd, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, code, "%s: %s", w->whole, strerror(code));
	status = follow(w, fd, part, err);
	close(fd);
	return status;
}

/*
 * Starts at "/" or at the working directory. For root, the path of the working directory is checked
 * too.
 */
static int start(struct path_walk *w, const char *path, struct error *err)
{
	bool absolute = *path == '/' || (w->root && (w->flags & SAFE_DIRECTORY_OURS));
	char *here = *path == '/' ? NULL : getcwd(NULL, 0);

	w->fd = -1;
	if (absolute) {
		w->rest = *path == '/' ? xstrdup(path)
		          : here       ? xasprintf("%s/%s", here, path)
		                       : NULL;
		free(here);
		if (!w->rest || go_to_root(w))
			return error_set(err, errno, "%s: %s", path, strerror(errno));
		return check_ours(w, false, err);
	}
	w->rest = xstrdup(path);
	w->fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (here && strcmp(here, "/") != 0)
		buf_puts(&w->real, here);
	free(here);
	return w->fd < 0 ? error_set(err, errno, "%s: %s", path, strerror(errno)) : 0;
}

/* Removes the first component from the rest; NULL: there is none. The caller frees it. */
static char *next_part(struct path_walk *w)
{
	const char *at = w->rest + strspn(w->rest, "/");
	size_t length = strcspn(at, "/");
	char *part = length ? xstrndup(at, length) : NULL, *rest = xstrdup(at + length);

	free(w->rest);
	w->rest = rest;
	return part;
}

int safe_directory_open(const char *path, unsigned flags, char **real, struct error *err)
{
	struct path_walk w = {.flags = flags, .whole = path, .root = !geteuid()};
	int status = start(&w, path, err);
	char *part;

	if (real)
		*real = NULL;
	while (!status && (part = next_part(&w))) {
		if (strcmp(part, ".") != 0)
			status = step(&w, part, err);
		free(part);
	}
	if (!status)
		status = check_ours(&w, true, err);
	if (!status && real)
		*real = xstrdup(real_text(&w));
	if (status && w.fd >= 0)
		close(w.fd);
	free(w.rest);
	buf_done(&w.real);
	return status ? status : w.fd;
}

int safe_directory_of(const char *path, unsigned flags, const char **name, char **real,
                      struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *directory = !slash          ? xstrdup(".")
	                  : slash == path ? xstrdup("/")
	                                  : xstrndup(path, (size_t)(slash - path));
	int fd = safe_directory_open(directory, flags, real, err);

	*name = slash ? slash + 1 : path;
	free(directory);
	return fd;
}

int safe_directory_list(int fd)
{
	int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return list < 0 ? -errno : list;
}

const char *safe_directory_runtime(void)
{
	const char *path = secure_getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!path || !*path)
		return NULL;
	/*
	 * su and sudo do not change this variable, so root may have the directory of another user.
	 */
	if (!geteuid() && !stat(path, &st) && st.st_uid)
		return NULL;
	return path;
}
