/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/database_place.h"

#include "base/file/safe_directory.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct checked_place {
	int fd; /* of the directory */
	const char *path, *name;
	struct stat st; /* state of the database file; if it does not exist yet, with the uid of a
	                   trusted user */
};

/* The message of a refusal also names a place where a store can be written. */
static int refuse_writing(const struct checked_place *p, int code, const char *why,
                          struct error *err)
{
	const char *home = getenv("HOME");

	if (!geteuid())
		return error_set(err, code,
		                 "%s is not written as a store: %s; root's stores are "
		                 "in " DATABASE_PLACE_OF_ROOT ": --store %s, without a directory",
		                 p->path, why, *p->name ? p->name : "NAME.db");
	return error_set(err, code,
	                 "%s is not written as a store: %s; name a store in a directory of yours, "
	                 "as %s/%s",
	                 p->path, why, home && *home ? home : "~", *p->name ? p->name : "NAME.db");
}

static bool others_may_write(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) ||
	       (!geteuid() && (st->st_mode & S_IWGRP) && st->st_gid != 0);
}

/* The database itself or a sidecar, before it is written. */
static int check_written(const struct checked_place *p, const char *suffix, const struct stat *st,
                         struct error *err)
{
	char *why = NULL;
	int status = 0;

	if (!safe_directory_trusts(st->st_uid))
		why = xasprintf("%s%s belongs to another user (uid %u)", p->name, suffix,
		                (unsigned)st->st_uid);
	else if (S_ISREG(st->st_mode) && others_may_write(st))
		why = xasprintf("other users may write to %s%s (mode %04o)", p->name, suffix,
		                (unsigned)st->st_mode & 07777);
	if (why)
		status = refuse_writing(p, EPERM, why, err);
	free(why);
	return status;
}

static int check_read(const struct checked_place *p, const char *suffix, const struct stat *st,
                      struct error *err)
{
	char *why = NULL;
	int status = 0;

	if (!S_ISREG(st->st_mode))
		why = xstrdup("is not a regular file");
	else if (!safe_directory_trusts(st->st_uid) && st->st_uid != p->st.st_uid)
		why = xasprintf("belongs to another user (uid %u)", (unsigned)st->st_uid);
	else if (st->st_nlink > 1)
		why = xstrdup("has more than one hard link");
	if (why)
		status = error_set(
		        err, EPERM,
		        "%s%s %s, and could replace the contents of the store: remove it, or copy "
		        "only the store to a directory of yours and read the copy",
		        p->path, suffix, why);
	free(why);
	return status;
}

static int check_files(struct checked_place *p, enum database_mode mode, struct error *err)
{
	static const char *const suffixes[] = {"-journal", "-wal", "-shm", "-lock"};
	const size_t count = sizeof(suffixes) / sizeof(*suffixes);
	struct stat st;
	int status = 0;

	p->st.st_uid = geteuid();
	if (!fstatat(p->fd, p->name, &st, AT_SYMLINK_NOFOLLOW)) {
		p->st = st;
		if (mode == DATABASE_WRITE)
			status = check_written(p, "", &st, err);
	}
	for (size_t i = 0; i < count && !status; i++) {
		char *sidecar = xasprintf("%s%s", p->name, suffixes[i]);

		if (!fstatat(p->fd, sidecar, &st, AT_SYMLINK_NOFOLLOW))
			status = mode == DATABASE_WRITE ? check_written(p, suffixes[i], &st, err)
			         : i + 1 < count        ? check_read(p, suffixes[i], &st, err)
			                                : 0; /* a reader opens no -lock */
		free(sidecar);
	}
	return status;
}

/* A reader follows all links of the path, also those of other users. */
static int open_for_reading(struct checked_place *p, char **real, struct error *err)
{
	const char *slash = strrchr(p->path, '/');
	char *directory = !slash             ? xstrdup(".")
	                  : slash == p->path ? xstrdup("/")
	                                     : xstrndup(p->path, (size_t)(slash - p->path));

	p->name = slash ? slash + 1 : p->path;
	*real = realpath(directory, NULL);
	p->fd = *real ? open(*real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (p->fd < 0)
		error_set(err, errno, "%s: %s: %s", p->path, directory, strerror(errno));
	free(directory);
	return p->fd < 0 ? -errno : 0;
}

static int open_for_writing(struct checked_place *p, char **real, struct error *err)
{
	struct error why = {0};

	p->fd = safe_directory_of(p->path, SAFE_DIRECTORY_OURS | SAFE_DIRECTORY_CLOSED, &p->name,
	                          real, &why);
	if (p->fd == -EPERM || p->fd == -ELOOP)
		return refuse_writing(p, -p->fd, why.text, err);
	return p->fd < 0 ? error_set(err, -p->fd, "%s: the store cannot be created: %s", p->path,
	                             why.text)
	                 : 0;
}

int database_place(const char *path, enum database_mode mode, char **whole, struct error *err)
{
	struct checked_place p = {.fd = -1, .path = path};
	char *real = NULL;
	int status = mode == DATABASE_WRITE ? open_for_writing(&p, &real, err)
	                                    : open_for_reading(&p, &real, err);

	if (!status)
		status = check_files(&p, mode, err);
	if (whole)
		*whole = status ? NULL : xasprintf("%s/%s", strcmp(real, "/") ? real : "", p.name);
	if (p.fd >= 0)
		close(p.fd);
	free(real);
	return status;
}
