/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/served_mount.h"

#include "base/memory/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* the kernel's limit */

/* The list of mounts, which is read again after a change. poll() reports each change once. */
static struct {
	pthread_mutex_t lock;
	FILE *list; /* NULL: not read yet */
	VEC(long) served;
	bool may_wait;
} mounts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/*
 * A line of mountinfo: ID ... - TYPE SOURCE OPTIONS, blanks in its words escaped. The words before
 * OPTIONS are chosen by the user who mounted it.
 */
static bool is_served(const char *line)
{
	const char *type = strstr(line, " - "), *user;

	if (!type || strncmp(type + 3, "fuse", 4))
		return false;
	user = strchr(type + 3, ' ');
	user = user ? strchr(user + 1, ' ') : NULL;
	user = user ? strstr(user, ",user_id=") : NULL;
	if (!user)
		return false;
	user += strlen(",user_id=");
	return strtoul(user, NULL, 10) && strtoul(user, NULL, 10) != geteuid();
}

static bool has_changed(void)
{
	struct pollfd changes = {.fd = mounts.list ? fileno(mounts.list) : -1, .events = POLLPRI};

	if (mounts.list)
		return poll(&changes, 1, 0) > 0;
	mounts.list = fopen("/proc/self/mountinfo", "re");
	return mounts.list;
}

static void read_list(void)
{
	char *line = NULL;
	size_t size = 0;

	mounts.served.count = 0;
	rewind(mounts.list);
	while (getline(&line, &size, mounts.list) > 0)
		if (is_served(line))
			vec_push(&mounts.served, strtol(line, NULL, 10));
	free(line);
}

bool served_mount_any(void)
{
	bool any;

	pthread_mutex_lock(&mounts.lock);
	if (!mounts.may_wait && has_changed())
		read_list();
	any = !mounts.may_wait && mounts.served.count;
	pthread_mutex_unlock(&mounts.lock);
	return any;
}

static bool find_served(long mount)
{
	bool found = false;

	if (!served_mount_any())
		return false;
	pthread_mutex_lock(&mounts.lock);
	vec_each (served, &mounts.served)
		found = found || *served == mount;
	pthread_mutex_unlock(&mounts.lock);
	return found;
}

void served_mount_may_wait(void)
{
	mounts.may_wait = true;
}

/* The mount id of a descriptor; the file system is not asked. -errno. */
static long mount_of(int fd)
{
	char path[64], line[128];
	long mount = -ENOENT;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "mnt_id: %ld", &mount) == 1)
			break;
	if (in)
		fclose(in);
	return mount;
}

/* Returns fd, or closes it and returns -EREMOTE. */
static int checked(int fd)
{
	long mount = fd < 0 ? 0 : mount_of(fd);

	if (fd < 0)
		return -errno;
	if (mount >= 0 && !find_served(mount))
		return fd;
	close(fd);
	return mount < 0 ? (int)mount : -EREMOTE;
}

/* A walk along a path: `rest` is the part that was not walked yet. */
struct served_mount_walk {
	int fd;
	unsigned links;
	bool keep_last; /* a link at the end of the path is not followed */
	const struct file_namer *namer;
	char rest[PATH_MAX];
};

static int walk_from(struct served_mount_walk *w, const char *directory)
{
	close(w->fd);
	w->fd = checked(open(directory, O_PATH | O_CLOEXEC));
	return w->fd < 0 ? w->fd : 0;
}

/* Puts the target of a link before the rest. */
static int follow(struct served_mount_walk *w, int link)
{
	char text[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t size = readlinkat(link, "", text, sizeof(text) - 1);
	struct stat st;

	if (!fstat(link, &st) && !file_namer_follows(w->namer, st.st_uid))
		return -EPERM;
	if (size < 0)
		return -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	text[size] = '\0';
	snprintf(joined, sizeof(joined), "%s/%s", text, w->rest);
	if (strlen(joined) >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, joined, strlen(joined) + 1);
	return *text == '/' ? walk_from(w, "/") : 0;
}

/*
 * Walks one component. A link of /proc refers to an object, not to its text: the kernel follows it.
 */
static int step(struct served_mount_walk *w)
{
	size_t size = strcspn(w->rest, "/");
	char name[NAME_MAX + 1];
	struct statfs where;
	struct stat st;
	int fd, r = 0;

	if (size >= sizeof(name))
		return -ENAMETOOLONG;
	memcpy(name, w->rest, size);
	name[size] = '\0';
	size += strspn(w->rest + size, "/");
	memmove(w->rest, w->rest + size, strlen(w->rest + size) + 1);
	if (!*name)
		return 0;
	if (!file_namer_searches(w->namer, w->fd))
		return -EPERM;
	fd = checked(openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	if (fd >= 0 && !(w->keep_last && !*w->rest) && !fstat(fd, &st) && S_ISLNK(st.st_mode)) {
		if (fstatfs(fd, &where) || where.f_type != PROC_SUPER_MAGIC) {
			r = follow(w, fd);
			close(fd);
			return r;
		}
		close(fd);
		fd = checked(openat(w->fd, name, O_PATH | O_CLOEXEC));
	}
	if (fd < 0)
		return fd;
	close(w->fd);
	w->fd = fd;
	return 0;
}

/* Opens the directory at which the walk starts; `w->rest` is the path from there. */
static int walk_start(struct served_mount_walk *w, const char *path)
{
	bool trusted = file_namer_is_trusted(w->namer);
	const char *start = *path == '/' || !trusted ? "/" : ".";
	char here[PATH_MAX] = "", in_process[48] = "";
	size_t length;

	/* The rights on the directories above the current one count, too. */
	if (*path != '/' && !trusted && !getcwd(here, sizeof(here)))
		return -errno;
	if (!trusted && w->namer->process)
		snprintf(in_process, sizeof(in_process), "/proc/%d/root", w->namer->process);
	length = strlen(in_process);
	if (length && !strncmp(path, in_process, length) && path[length] == '/') {
		start = in_process;
		path += length;
	}
	length = strlen(here);
	if (length + 1 + strlen(path) >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, here, length);
	w->rest[length] = '/';
	memcpy(w->rest + length + 1, path, strlen(path) + 1);
	w->fd = checked(open(start, O_PATH | O_CLOEXEC));
	return w->fd < 0 ? w->fd : 0;
}

int served_mount_path(const char *path, int flags, const struct file_namer *namer)
{
	struct served_mount_walk w = {.fd = -1, .keep_last = flags & O_NOFOLLOW, .namer = namer};
	int r = walk_start(&w, path);

	while (!r && *w.rest)
		r = step(&w);
	if (!r)
		return w.fd;
	if (w.fd >= 0)
		close(w.fd);
	return r;
}
