/* SPDX-License-Identifier: MIT */
/*
 * place: see place.h. The path is walked directory by directory. Each directory is opened relative
 * to the one before, so that the directory that was checked is the one that is used. In a directory
 * that all users may write to (/tmp), only directories and links of this user or of root are
 * followed.
 */
#include "linux/place.h"
#include "linux/handout.h"
#include "linux/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_FILES 10000 /* files of one process, one for each exec */
#define PATH_ROOM 1024   /* bytes; the buffer is on the stack, which may be a small signal stack */
#define KEPT_ROOM 8192   /* bytes of the variables of assay at the start of the program */
#define PREFIX "ASSAY_"

extern char **environ;

/* A text in a buffer of fixed size. `cut` is set if it did not fit. */
struct fixed_text {
	char *at;
	size_t used, room;
	bool cut;
};

static void put(struct fixed_text *t, const char *s)
{
	for (; *s; s++) {
		if (t->used + 1 >= t->room) {
			t->cut = true;
			return;
		}
		t->at[t->used++] = *s;
	}
	if (t->room)
		t->at[t->used] = 0;
}

static void put_number(struct fixed_text *t, uint64_t number)
{
	char digits[24];
	int i = sizeof(digits);

	digits[--i] = 0;
	do
		digits[--i] = (char)('0' + number % 10);
	while (number /= 10);
	put(t, digits + i);
}

static const char *value_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=' ? entry + length + 1 : NULL;
}

static ssize_t read_all(const char *path, char *bytes, size_t room)
{
	int fd = uncancelled_open(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	while (used < room && (got = uncancelled_read(fd, bytes + used, room - used)) > 0)
		used += (size_t)got;
	uncancelled_close(fd);
	return (ssize_t)used;
}

/*
 * Reads the kernel's copy of the environment before libc has set `environ`; only the part that
 * fits.
 */
static const char *from_kernel(const char *name)
{
	static char entries[16384];
	ssize_t size = read_all("/proc/self/environ", entries, sizeof(entries) - 1);

	for (ssize_t at = 0; at < size; at += (ssize_t)strlen(entries + at) + 1) {
		const char *value = value_of(entries + at, name);

		if (value)
			return value;
	}
	return NULL;
}

/*
 * The variables of assay at the start: "NAME=VALUE", one after the other. Daemons replace their
 * environment before they start their workers.
 */
static char kept[KEPT_ROOM];

__attribute__((constructor(101))) static void environment_keep(void)
{
	struct fixed_text t = {.at = kept, .room = sizeof(kept) - 1};

	for (char **e = environ; e && *e; e++) {
		if (strncmp(*e, PREFIX, strlen(PREFIX)) != 0 || strlen(*e) + 2 > t.room - t.used)
			continue;
		put(&t, *e);
		t.used++; /* the NUL */
	}
}

static const char *from_start(const char *name)
{
	const char *value = NULL;

	for (const char *at = kept; *at && !value; at += strlen(at) + 1)
		value = value_of(at, name);
	return value;
}

const char *place_environment(const char *name)
{
	const char *value = NULL;
	int saved = errno;

	if (!environ)
		value = from_kernel(name);
	for (char **e = environ; e && *e && !value; e++)
		value = value_of(*e, name);
	if (!value)
		value = from_start(name);
	errno = saved;
	return value;
}

static const char *directory_variable(const char *name)
{
	const char *value = getauxval(AT_SECURE) ? NULL : place_environment(name);

	return value && *value ? value : NULL;
}

/* Appends the name of the variable, ASSAY_KIND_DIR. */
static void put_variable(struct fixed_text *t, const char *kind)
{
	put(t, PREFIX);
	for (; *kind; kind++) {
		char capital[2] = {(char)(*kind & ~32), 0};

		put(t, capital);
	}
	put(t, "_DIR");
}

/* Ignores another user's directory if this process is root: su and sudo keep the variable. */
static const char *runtime_directory(uid_t user)
{
	const char *run = directory_variable("XDG_RUNTIME_DIR");
	struct stat st;

	return run && user == 0 && !stat(run, &st) && st.st_uid ? NULL : run;
}

int place_directory(const char *kind, char *path, size_t room)
{
	char variable[32];
	struct fixed_text t = {.at = path, .room = room}, name = {.at = variable, .room = 32};
	int saved = errno;
	const char *given = (put_variable(&name, kind), directory_variable(variable));
	uid_t user = (uid_t)syscall(SYS_geteuid);
	const char *run = runtime_directory(user);

	if (given) {
		put(&t, given);
	} else if (run) {
		put(&t, run);
		put(&t, "/assay/");
	} else if (user == 0) {
		put(&t, "/run/assay/");
	} else {
		put(&t, "/tmp/assay-");
		put_number(&t, user);
		put(&t, "/");
	}
	if (!given)
		put(&t, kind);
	errno = saved;
	return t.cut || !room ? -ENAMETOOLONG : 0;
}

static bool is_trusted(uid_t owner)
{
	return owner == 0 || owner == (uid_t)syscall(SYS_geteuid);
}

/* Follows a link that no other user can have created. */
static int follow(int at, const char *part)
{
	struct stat st;

	if (fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (!is_trusted(st.st_uid))
		return -ELOOP;
	at = uncancelled_open(at, part, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	return at < 0 ? -errno : at;
}

/*
 * Opens `part` of the directory `at`, and creates it if it does not exist and `make`. A descriptor
 * or -errno.
 */
static int enter(int at, const char *part, bool last, bool make)
{
	/* O_PATH: intermediate directories need not be readable. */
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat above, st;
	int fd = uncancelled_open(at, part, flags, 0);

	if (fd < 0 && errno == ENOENT && make) {
		if (mkdirat(at, part, 0700) && errno != EEXIST)
			return -errno;
		fd = uncancelled_open(at, part, flags, 0);
	}
	if (fd < 0) {
		if (last || (errno != ELOOP && errno != ENOTDIR))
			return -errno;
		fd = follow(at, part);
		if (fd < 0)
			return fd;
	}
	if (fstat(at, &above) || fstat(fd, &st) ||
	    ((above.st_mode & S_IWOTH) && !is_trusted(st.st_uid))) {
		uncancelled_close(fd);
		return -EPERM;
	}
	return fd;
}

/* Checks the last directory: it belongs to this user and is closed to others. */
static int is_private(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_uid != (uid_t)syscall(SYS_geteuid) || st.st_mode & 077)
		return -EPERM;
	return 0;
}

static int open_directory(char *path, bool make)
{
	int fd = uncancelled_open(AT_FDCWD, *path == '/' ? "/" : ".",
	                          O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	while (*path == '/')
		path++;
	while (*path) {
		char *end = path;
		bool last;
		int next;

		while (*end && *end != '/')
			end++;
		while (*end == '/')
			*end++ = 0;
		last = !*end;
		next = enter(fd, path, last, make);
		uncancelled_close(fd);
		if (next < 0)
			return next;
		fd = next;
		path = end;
	}
	rc = is_private(fd);
	if (rc) {
		uncancelled_close(fd);
		return rc;
	}
	return fd;
}

static int make_file(int directory, const char *kind, uint64_t birth)
{
	for (unsigned n = 0; n < MOST_FILES; n++) {
		char name[80];
		struct fixed_text t = {.at = name, .room = sizeof(name)};
		int fd;

		put_number(&t, (uint64_t)syscall(SYS_getpid));
		put(&t, "-");
		put_number(&t, birth);
		put(&t, "-");
		put_number(&t, n);
		put(&t, ".");
		put(&t, kind);
		fd = uncancelled_open(directory, name,
		                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Of entries of a directory; the kernel's struct linux_dirent64. */
struct place_entry {
	uint64_t inode;
	int64_t next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/*
 * True: the entry is a file with contents. The lock of a process that ended is gone: its file is
 * removed if `free_it`, and does not count. The creator locks a file before it sets the size.
 */
static bool is_in_use(int directory, const char *name, bool free_it)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = uncancelled_open(directory, name, flags, 0);
	struct stat st;
	bool used = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	            st.st_uid == (uid_t)syscall(SYS_geteuid);

	if (used && free_it && !flock(fd, LOCK_EX | LOCK_NB))
		used = unlinkat(directory, name, 0) != 0;
	if (fd >= 0)
		uncancelled_close(fd);
	return used;
}

/* "1234-5678-0.tags": a process, its birth and a number, as make_file() names it. */
static bool is_name_of(const char *name, const char *kind)
{
	size_t length = strlen(name), end = strlen(kind);

	return name[0] >= '0' && name[0] <= '9' && length > end + 1 &&
	       name[length - end - 1] == '.' && !strcmp(name + length - end, kind);
}

/* Number of files of a kind in use, up to `most`. */
static unsigned count_files(int directory, const char *kind, unsigned most, bool free_them)
{
	_Alignas(struct place_entry) char page[2048];
	int fd = uncancelled_open(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	unsigned count = 0;
	long size = 0;

	while (fd >= 0 && count < most &&
	       (size = syscall(SYS_getdents64, fd, page, sizeof(page))) > 0)
		for (long at = 0; at < size && count < most;) {
			const struct place_entry *e = (const struct place_entry *)(page + at);

			if (is_name_of(e->name, kind))
				count += is_in_use(directory, e->name, free_them);
			at += e->bytes;
		}
	if (fd >= 0)
		uncancelled_close(fd);
	return count;
}

static int lock_and_size(int fd, bool locked, uint64_t bytes)
{
	int rc;

	if (locked)
		flock(fd, LOCK_EX | LOCK_NB);
	if (!ftruncate(fd, (off_t)bytes))
		return fd;
	rc = -errno;
	uncancelled_close(fd);
	return rc;
}

/* What a file is to be: `locked` and `most` as in place_create_locked(). */
struct file_wish {
	const char *kind;
	uint64_t birth, bytes;
	bool locked;
	unsigned most;
};

static int create_in(const char *directory_path, bool make, const struct file_wish *w)
{
	char path[PATH_ROOM];
	int directory, rc;
	bool full;

	memcpy(path, directory_path, strlen(directory_path) + 1);
	directory = open_directory(path, make);
	if (directory < 0)
		return directory;
	full = w->most && count_files(directory, w->kind, w->most, false) == w->most &&
	       count_files(directory, w->kind, w->most, true) == w->most;
	rc = full ? -ENOSPC : make_file(directory, w->kind, w->birth);
	uncancelled_close(directory);
	return rc < 0 ? rc : lock_and_size(rc, w->locked, w->bytes);
}

/*
 * The directory of a recorder exists while it runs: a missing part of the path is that of another
 * root directory, and is not created. When the recorder has exited, the directory is created again.
 */
static int create(const struct file_wish *w, uint64_t *bytes, uint64_t least)
{
	char path[PATH_ROOM];
	int saved = errno, rc = place_directory(w->kind, path, sizeof(path)), asked;
	bool session = !rc && handout_is_session(path);

	if (!rc)
		rc = create_in(path, !session, w);
	if (rc < 0 && session) {
		asked = handout_ask(path, bytes, least);
		if (asked >= 0 && w->locked)
			flock(asked, LOCK_EX | LOCK_NB);
		rc = asked >= 0 ? asked : asked == -ECONNREFUSED ? create_in(path, true, w) : rc;
	}
	errno = saved;
	return rc;
}

int place_create(const char *kind, uint64_t birth, uint64_t *bytes, uint64_t least)
{
	const struct file_wish w = {kind, birth, *bytes, false, 0};

	return create(&w, bytes, least);
}

int place_create_locked(const char *kind, uint64_t birth, unsigned most, uint64_t *bytes,
                        uint64_t least)
{
	const struct file_wish w = {kind, birth, *bytes, true, most};

	return create(&w, bytes, least);
}

uint64_t place_birth(void)
{
	char text[1024], *at = NULL;
	int saved = errno;
	ssize_t size = read_all("/proc/self/stat", text, sizeof(text) - 1);
	uint64_t birth = 0;

	errno = saved;
	/* The name may contain blanks and brackets: it ends at the last closing bracket. */
	for (ssize_t i = 0; i < size; i++)
		if (text[i] == ')')
			at = text + i;
	if (!at)
		return 0;
	text[size] = 0;
	for (int field = 2; field < 22 && *at; field++)
		while (*at && *at++ != ' ')
			;
	for (; *at >= '0' && *at <= '9'; at++)
		birth = birth * 10 + (uint64_t)(*at - '0');
	return birth;
}
