/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/session_registry.h"

#include "base/file/replace_file.h"
#include "base/file/write_all.h"
#include "base/memory/xalloc.h"
#include "session/daemon/control_message.h"
#include "session/daemon/session_directory.h"
#include "source/runtime/runtime_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME_ROOM (SESSION_NAME_MAX + 16)
#define LAST_WORDS 512
#define TRIES 8    /* tries, since a lock file may be removed while it is opened */
#define LOOKERS 20 /* tries of a lock that a reader may hold for a short time */
#define LOOK_MS 10 /* pause between two tries */

bool session_name_is_good(const char *name)
{
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                             "0123456789._-");

	return length && !name[length] && length <= SESSION_NAME_MAX && name[0] != '.';
}

static void file_name(char *text, const char *name, const char *what)
{
	snprintf(text, FILE_NAME_ROOM, "%.*s.%s", SESSION_NAME_MAX, name, what);
}

int session_registry_open(struct session_registry *p, bool make, struct error *err)
{
	p->fd = session_directory_open(&p->path, make, err);
	return p->fd < 0 ? p->fd : 0;
}

void session_registry_close(struct session_registry *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
	*p = (struct session_registry){.fd = -1};
}

void session_registry_socket(const struct session_registry *p, const char *name, char *path,
                             size_t room)
{
	snprintf(path, room, "/proc/self/fd/%d/%.*s.sock", p->fd, SESSION_NAME_MAX, name);
}

/* ---- names --------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(session_names *names, const char *file)
{
	const char *dot = strrchr(file, '.');
	char *name;

	if (!dot || (strcmp(dot, ".lock") != 0 && strcmp(dot, ".ended") != 0))
		return;
	name = xstrndup(file, (size_t)(dot - file));
	vec_each (n, names) {
		if (!strcmp(*n, name)) {
			free(name);
			return;
		}
	}
	if (session_name_is_good(name))
		vec_push(names, name);
	else
		free(name);
}

int session_registry_names(const struct session_registry *p, session_names *names,
                           struct error *err)
{
	int fd = openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		int code = errno;

		if (fd >= 0)
			close(fd);
		return error_set(err, code, "%s: %s", p->path, strerror(code));
	}
	while ((entry = readdir(dir)))
		add_name(names, entry->d_name);
	closedir(dir);
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), by_name);
	return 0;
}

/* ---- files --------------------------------------------------------------- */

/* Reads an account from a file; if the file is unreadable, the account stays empty. */
static void account_read(int fd, struct session_account *a)
{
	struct control_reply reply;
	struct buf text = {0};
	char piece[4096];
	ssize_t got;
	off_t at = 0;

	while (text.size <= CONTROL_REPLY_MAX && (got = pread(fd, piece, sizeof(piece), at)) > 0) {
		buf_add(&text, piece, (size_t)got);
		at += got;
	}
	if (!control_reply_parse(&reply, buf_text(&text), text.size, NULL)) {
		*a = reply.account;
		reply.account = (struct session_account){0};
	}
	control_reply_done(&reply);
	buf_done(&text);
}

static int account_write(int fd, const struct session_account *a)
{
	struct control_reply reply = {.account = *a}; /* borrowed */
	struct buf text = {0};
	int rc;

	control_reply_write(&reply, &text);
	rc = ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0 ? -errno
	                                                    : write_all(fd, text.data, text.size);
	buf_done(&text);
	return rc;
}

/* The end of its standard error output; NULL: none. */
static char *last_words(const struct session_registry *p, const char *name)
{
	char file[FILE_NAME_ROOM], text[LAST_WORDS + 1];
	ssize_t got = 0;
	struct stat st;
	int fd;

	file_name(file, name, "log");
	fd = shared_file_open(p->fd, file, O_RDONLY, &st);
	if (fd < 0)
		return NULL;
	got = pread(fd, text, LAST_WORDS, st.st_size > LAST_WORDS ? st.st_size - LAST_WORDS : 0);
	close(fd);
	while (got > 0 && text[got - 1] == '\n')
		got--;
	return got > 0 ? xstrndup(text, (size_t)got) : NULL;
}

static void take_away(const struct session_registry *p, const char *name, const char *what)
{
	char file[FILE_NAME_ROOM];

	file_name(file, name, what);
	unlinkat(p->fd, file, 0);
}

/* The lock is removed last: until then the name is not free. */
static void take_all_away(const struct session_registry *p, const char *name)
{
	take_away(p, name, "sock");
	take_away(p, name, "log");
	take_away(p, name, "part");
	take_away(p, name, "lock");
}

/* True if the open file is still the file of that name. */
static bool is_there(const struct session_registry *p, const char *file, int fd)
{
	struct stat here, open;

	return !fstat(fd, &open) && !fstatat(p->fd, file, &here, AT_SYMLINK_NOFOLLOW) &&
	       here.st_ino == open.st_ino && here.st_dev == open.st_dev;
}

/*
 * Readers share the lock, so that they do not take each other for a session; a claim waits for
 * readers.
 */
static bool lock_take(int fd, bool claim)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};

	if (!claim)
		return !flock(fd, LOCK_SH | LOCK_NB);
	for (int i = 0; i < LOOKERS; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Opens the lock file. `*locked`: it was free and is locked now. -ENOENT: no such file. */
static int lock_open(const struct session_registry *p, const char *name, bool claim, bool *locked)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	char file[FILE_NAME_ROOM];

	file_name(file, name, "lock");
	for (int i = 0; i < TRIES; i++) {
		struct stat st;
		int fd = openat(p->fd, file, claim ? flags | O_CREAT : flags, 0600);

		if (fd < 0)
			return -errno;
		if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
			close(fd);
			return -EPERM;
		}
		*locked = lock_take(fd, claim);
		if (is_there(p, file, fd))
			return fd;
		close(fd);
	}
	return -EAGAIN;
}

static int cannot_lock(const struct session_registry *p, const char *name, int rc,
                       struct error *err)
{
	return error_set(err, -rc, "%s/%s.lock: %s", p->path, name, strerror(-rc));
}

/* ---- lookups ------------------------------------------------------------- */

/* Removes the files, unless another process is reading them; the next reader removes them then. */
static void clean(const struct session_registry *p, const char *name, int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		take_all_away(p, name);
}

static bool read_ended(const struct session_registry *p, const char *name,
                       struct session_account *a)
{
	char file[FILE_NAME_ROOM];
	struct stat st;
	int fd;

	file_name(file, name, "ended");
	fd = shared_file_open(p->fd, file, O_RDONLY, &st);
	if (fd < 0)
		return false;
	account_read(fd, a);
	close(fd);
	return true;
}

/*
 * Removes the temporary file of an unfinished snapshot. Returns the path of the snapshot, if there
 * was one.
 */
static char *remove_part(const struct session_registry *p, const char *name, uint64_t pid)
{
	char file[FILE_NAME_ROOM], path[PATH_MAX + 1], *part;
	struct stat st;
	struct file_place place;
	bool gone;
	ssize_t got;
	int fd;

	file_name(file, name, "part");
	fd = shared_file_open(p->fd, file, O_RDONLY, &st);
	if (fd < 0)
		return NULL;
	got = pread(fd, path, PATH_MAX, 0);
	close(fd);
	if (got <= 0 || path[0] != '/' || !pid)
		return NULL;
	path[got] = '\0';
	part = replace_file_part_name(path, (pid_t)pid);
	gone = !file_place_open(&place, part, NULL, NULL) &&
	       !file_place_stat(&place, place.name, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == geteuid() && !unlinkat(place.directory, place.name, 0);
	file_place_close(&place);
	free(part);
	return gone ? xstrdup(path) : NULL;
}

/* A free lock file: its session was killed. */
static void look_at_dead(const struct session_registry *p, const char *name, int fd,
                         enum session_presence *presence, struct session_account *a)
{
	struct stat st;

	/* An empty lock file: a session is just starting, or failed to start. */
	if (fstat(fd, &st) || !st.st_size)
		return;
	*presence = SESSION_WAS_KILLED;
	account_read(fd, a);
	a->state = SESSION_KILLED;
	free(a->error);
	a->error = last_words(p, name);
	a->unfinished = remove_part(p, name, a->pid);
	clean(p, name, fd);
}

int session_registry_look(const struct session_registry *p, const char *name,
                          enum session_presence *presence, struct session_account *account,
                          struct error *err)
{
	bool locked = false;
	int fd = lock_open(p, name, false, &locked);

	*account = (struct session_account){0};
	*presence = SESSION_IS_NOT;
	if (fd < 0 && fd != -ENOENT)
		return cannot_lock(p, name, fd, err);
	if (fd >= 0 && !locked) {
		*presence = SESSION_RUNS;
		account_read(fd, account);
	} else if (read_ended(p, name, account)) {
		*presence = SESSION_HAS_ENDED;
		account->state = SESSION_ENDED;
		if (fd >= 0) /* killed after it had written its last account */
			clean(p, name, fd);
	} else if (fd >= 0) {
		look_at_dead(p, name, fd, presence, account);
	}
	if (fd >= 0)
		close(fd);
	/* The name of the file is authoritative, not its contents. */
	free(account->name);
	account->name = xstrdup(name);
	return 0;
}

enum session_presence session_registry_peek(const struct session_registry *p, const char *name,
                                            struct session_account *account)
{
	enum session_presence presence = SESSION_IS_NOT;
	bool locked = false;
	int fd = lock_open(p, name, false, &locked);
	struct stat st;

	*account = (struct session_account){0};
	if (fd >= 0 && !locked)
		presence = SESSION_RUNS;
	else if (read_ended(p, name, account))
		presence = SESSION_HAS_ENDED;
	else if (fd >= 0 && !fstat(fd, &st) && st.st_size)
		presence = SESSION_WAS_KILLED;
	if (presence == SESSION_RUNS || presence == SESSION_WAS_KILLED)
		account_read(fd, account);
	if (fd >= 0)
		close(fd);
	free(account->name);
	account->name = xstrdup(name);
	return presence;
}

void session_registry_forget(const struct session_registry *p, const struct session_account *ended)
{
	struct session_account there = {0};

	if (!ended->name || !session_name_is_good(ended->name))
		return;
	/* Removes the file only if it does not belong to a later session with the same name. */
	if (read_ended(p, ended->name, &there) && there.pid == ended->pid &&
	    there.started_wall_ns == ended->started_wall_ns)
		take_away(p, ended->name, "ended");
	session_account_done(&there);
}

/* ---- a claim ------------------------------------------------------------- */

int session_registry_claim(const struct session_registry *p, const char *name,
                           struct session_claim *claim, struct error *err)
{
	bool locked = false;
	int fd = lock_open(p, name, true, &locked);

	*claim = (struct session_claim){.place = p, .fd = -1};
	if (fd < 0)
		return cannot_lock(p, name, fd, err);
	if (!locked) {
		close(fd);
		return error_set(err, EEXIST, "a session '%s' is running", name);
	}
	take_away(p, name, "sock");
	claim->name = xstrdup(name);
	claim->fd = fd;
	return 0;
}

int session_claim_tell(const struct session_claim *c, const struct session_account *a,
                       struct error *err)
{
	int rc = account_write(c->fd, a);

	return rc ? error_set(err, -rc, "%s/%s.lock cannot be written: %s", c->place->path, c->name,
	                      strerror(-rc))
	          : 0;
}

static int new_file(const struct session_claim *c, const char *what, struct error *err)
{
	char file[FILE_NAME_ROOM];
	int fd;

	take_away(c->place, c->name, what);
	file_name(file, c->name, what);
	fd = openat(c->place->fd, file,
	            O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd >= 0 ? fd
	               : error_set(err, errno, "%s/%s cannot be written: %s", c->place->path, file,
	                           strerror(errno));
}

void session_claim_writing(const struct session_claim *c, const char *path)
{
	int fd = path ? new_file(c, "part", NULL) : -1;

	if (!path)
		take_away(c->place, c->name, "part");
	if (fd >= 0 && write_all(fd, path, strlen(path)))
		take_away(c->place, c->name, "part");
	if (fd >= 0)
		close(fd);
}

int session_claim_log(const struct session_claim *c, struct error *err)
{
	return new_file(c, "log", err);
}

int session_claim_leave(const struct session_claim *c, const struct session_account *a,
                        struct error *err)
{
	int fd = new_file(c, "ended", err), rc;

	if (fd < 0)
		return fd;
	rc = account_write(fd, a);
	close(fd);
	return rc ? error_set(err, -rc, "%s/%s.ended cannot be written: %s", c->place->path,
	                      c->name, strerror(-rc))
	          : 0;
}

void session_claim_release(struct session_claim *c)
{
	if (c->fd >= 0)
		take_all_away(c->place, c->name);
	session_claim_pass(c);
}

void session_claim_pass(struct session_claim *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->name);
	*c = (struct session_claim){.fd = -1};
}
