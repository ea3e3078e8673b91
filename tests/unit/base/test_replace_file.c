/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/replace_file.h"

#include "base/file/file_in_use.h"
#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

static int put(const char *name, const char *text, struct error *err)
{
	return replace_file(fixture_path(name), text, strlen(text), err);
}

static void an_older_file_stays_as_old(void)
{
	struct error err = {0};
	const char *path = fixture_path("a"), *old = fixture_path("a.old");
	struct stat st;

	CHECK_EQ(put("a", "one", &err), 0);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK(access(old, F_OK) != 0);
	CHECK_EQ(put("a", "two", &err), 0);
	CHECK_STR(fixture_text("a"), "two");
	CHECK_STR(fixture_text("a.old"), "one");
	CHECK_EQ(put("a", "three", &err), 0);
	CHECK_STR(fixture_text("a"), "three");
	CHECK_STR(fixture_text("a.old"), "two");
	unlink(path);
	unlink(old);
	/* No other file is left. */
	CHECK(fixture_is_empty());
}

static void nothing_is_lost_if_an_old_file_exists(void)
{
	struct error err = {0};
	const char *path = fixture_path("b"), *old = fixture_path("b.old");

	CHECK_EQ(put("b", "one", &err), 0);
	CHECK_EQ(mkdir(old, 0700), 0);
	CHECK(put("b", "two", &err) < 0);
	CHECK(strstr(err.text, "b cannot be written") != NULL);
	CHECK_STR(fixture_text("b"), "one");
	CHECK_EQ(rmdir(old), 0);
	CHECK_EQ(unlink(path), 0);
	CHECK(fixture_is_empty());
}

static void links_and_directories_are_refused(void)
{
	struct error err = {0};
	const char *path = fixture_path("link"), *target = fixture_path("target");

	CHECK_EQ(put("target", "kept", &err), 0);
	CHECK_EQ(symlink(target, path), 0);
	CHECK(put("link", "other", &err) < 0);
	CHECK(strstr(err.text, "link is a symbolic link") != NULL);
	CHECK_STR(fixture_text("target"), "kept");
	CHECK(replace_file_check(path, &err) < 0);
	CHECK(replace_file_check(fixture_dir, &err) < 0);
	CHECK(strstr(err.text, "is a directory") != NULL);
	unlink(path);
	unlink(target);
}

static void unwritable_targets_are_detected_early(void)
{
	struct error err = {0};
	const char *path = fixture_path("none/a");

	CHECK(replace_file_check(path, &err) < 0);
	CHECK(strstr(err.text, "none") != NULL);
	CHECK(replace_file(path, "x", 1, &err) < 0);
	path = fixture_path("c");
	CHECK_EQ(replace_file_check(path, &err), 0);
	CHECK(access(path, F_OK) != 0);
	CHECK_EQ(replace_file_check("/dev/null", &err), 0);
	CHECK_EQ(replace_file("/dev/null", "x", 1, &err), 0);
}

static void a_replacement_gets_the_files_name_when_it_is_complete(void)
{
	struct error err = {0};
	const char *path = fixture_path("p");
	char *name = replace_file_part_name(path, getpid());
	struct replacement r, again;
	int fd, other;

	CHECK_EQ(put("p", "one", &err), 0);
	fd = replacement_begin(&r, path, NULL, &err);
	CHECK(fd >= 0);
	CHECK(!access(name, F_OK));
	CHECK_EQ(write(fd, "two", 3), 3);
	CHECK_STR(fixture_text("p"), "one");
	/* The file belongs to a living process, so it is not removed as a dead process's file. */
	CHECK_EQ(replacement_begin(&again, path, NULL, &err), -EEXIST);
	CHECK(strstr(err.text, name));
	close(fd);
	CHECK_EQ(replacement_put(&r, &err), 0);
	CHECK_STR(fixture_text("p"), "two");
	CHECK_STR(fixture_text("p.old"), "one");
	/* A dead process's file is replaced, but a link is not followed or removed. */
	other = open(name, O_WRONLY | O_CREAT, 0600);
	CHECK_EQ(write(other, "half", 4), 4);
	close(other);
	CHECK_EQ(put("p", "three", &err), 0);
	CHECK_STR(fixture_text("p"), "three");
	CHECK_EQ(symlink("/nonexistent", name), 0);
	CHECK_EQ(put("p", "four", &err), -EEXIST);
	CHECK_STR(fixture_text("p"), "three");
	unlink(name);
	unlink(path);
	unlink(fixture_path("p.old"));
	free(name);
	CHECK(fixture_is_empty());
}

static void a_file_in_use_is_not_replaced(void)
{
	const char *path = fixture_path("busy");
	struct error err = {0};
	struct replacement r;
	char want[64];
	int fd = open(path, O_WRONLY | O_CREAT, 0600), mine;
	pid_t pid;

	CHECK(!file_in_use(path, &pid));
	file_in_use_mark(fd);
	CHECK(file_in_use(path, &pid));
	CHECK(pid == 0 || pid == getpid()); /* 0: not in the kernel's list by these numbers */
	CHECK_EQ(put("busy", "other", &err), -EBUSY);
	snprintf(want, sizeof(want), "busy is being written by %s", pid ? "process" : "another");
	CHECK(strstr(err.text, want) != NULL);
	CHECK_EQ(replace_file_check(path, &err), -EBUSY);
	CHECK(access(fixture_path("busy.old"), F_OK) != 0);
	/* Another process began to write during the replacement. */
	mine = replacement_begin(&r, path, NULL, &err);
	CHECK_EQ(replacement_put(&r, &err), -EBUSY);
	close(mine);
	close(fd);
	CHECK(!file_in_use(path, &pid));
	CHECK_EQ(put("busy", "other", &err), 0);
	unlink(path);
	unlink(fixture_path("busy.old"));
	CHECK(fixture_is_empty());
}

/*
 * A child that holds such a lock on the whole file until its input ends; the write end is returned.
 */
static int child_with_lock(const char *path, short kind, pid_t *child)
{
	struct flock lock = {.l_type = kind, .l_whence = SEEK_SET};
	int ready[2], hold[2];
	char byte;

	CHECK(!pipe(ready) && !pipe(hold));
	*child = fork();
	if (!*child) {
		int fd = open(path, O_RDWR);

		close(hold[1]);
		if (fcntl(fd, F_SETLK, &lock))
			_exit(1);
		if (write(ready[1], "", 1) != 1 || read(hold[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(ready[1]);
	close(hold[0]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return hold[1];
}

/*
 * Only an open file description lock of the whole file counts as a mark; programs use locks of
 * bytes for themselves.
 */
static void locks_of_bytes_are_no_mark(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const char *path = fixture_path("bytes");
	struct error err = {0};
	pid_t child, pid;
	int hold, fd;

	CHECK_EQ(put("bytes", "one", &err), 0);
	hold = child_with_lock(path, F_WRLCK, &child);
	CHECK(!file_in_use(path, &pid));
	close(hold);
	waitpid(child, NULL, 0);
	/* For the file beside a store any lock counts, and its owner is reported. */
	CHECK_EQ(put("bytes-lock", "", &err), 0);
	hold = child_with_lock(fixture_path("bytes-lock"), F_WRLCK, &child);
	CHECK(file_in_use(path, &pid));
	CHECK(pid == 0 || pid == child);
	close(hold);
	waitpid(child, NULL, 0);
	CHECK(!file_in_use(path, &pid));
	unlink(fixture_path("bytes-lock"));
	/* The check does not release this process's lock: the child cannot take it. */
	fd = open(path, O_RDWR);
	CHECK_EQ(fcntl(fd, F_SETLK, &lock), 0);
	CHECK(!file_in_use(path, &pid));
	child = fork();
	if (!child) {
		int other = open(path, O_RDWR);

		_exit(fcntl(other, F_SETLK, &lock) ? 0 : 1);
	}
	waitpid(child, &hold, 0);
	CHECK_EQ(hold, 0);
	close(fd);
	unlink(path);
	CHECK(fixture_is_empty());
}

/*
 * SQLite would apply the old logs to the new file, and the older file is incomplete without them.
 */
static void logs_of_a_database_go_with_it(void)
{
	struct file_place place;
	static const char log[] = "\x37\x7f\x06\x82 of the older", text[] = "is no log";
	struct error err = {0};

	CHECK_EQ(put("d", "one", &err), 0);
	CHECK_EQ(put("d-wal", log, &err), 0);
	CHECK_EQ(put("d-journal", text, &err), 0);
	CHECK_EQ(put("d", "two", &err), 0);
	CHECK_STR(fixture_text("d.old"), "one");
	CHECK_STR(fixture_text("d.old-wal"), log);
	CHECK_STR(fixture_text("d-journal"), text); /* another program's file */
	CHECK(access(fixture_path("d-wal"), F_OK) != 0);
	/* The next file had no log, so the log of the previous one is not used for it. */
	CHECK_EQ(put("d", "three", &err), 0);
	CHECK_STR(fixture_text("d.old"), "two");
	CHECK(access(fixture_path("d.old-wal"), F_OK) != 0);
	/* The log without its database, and a database that could not be replaced. */
	CHECK_EQ(put("d-wal", log, &err), 0);
	unlink(fixture_path("d"));
	CHECK_EQ(put("d", "four", &err), 0);
	CHECK_STR(fixture_text("d-wal.old"), log);
	CHECK_EQ(put("d-wal", log, &err), 0);
	unlink(fixture_path("d.old"));
	CHECK_EQ(mkdir(fixture_path("d.old"), 0700), 0);
	CHECK(put("d", "five", &err) < 0);
	CHECK_STR(fixture_text("d-wal"), log);
	CHECK_EQ(rmdir(fixture_path("d.old")), 0);
	CHECK_EQ(file_place_open(&place, fixture_path("d"), NULL, &err), 0);
	CHECK_EQ(replace_file_aside(&place, "d", "e"), 0);
	file_place_close(&place);
	CHECK_STR(fixture_text("e"), "four");
	CHECK_STR(fixture_text("e-wal"), log);
	unlink(fixture_path("e"));
	unlink(fixture_path("e-wal"));
	unlink(fixture_path("d-wal.old"));
	unlink(fixture_path("d-journal"));
	CHECK(fixture_is_empty());
}

/*
 * Writers of a store lock bytes of a file beside it, because SQLite's own locks would be released.
 */
static void a_store_that_is_written_is_left_in_its_place(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 7, .l_len = 1};
	struct error err = {0};
	pid_t pid;
	int fd;

	CHECK_EQ(put("s", "one", &err), 0);
	fd = open(fixture_path("s-lock"), O_RDWR | O_CREAT, 0600);
	CHECK(!file_in_use(fixture_path("s"), &pid)); /* it exists after the end, too */
	CHECK_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);
	CHECK(file_in_use(fixture_path("s"), &pid));
	CHECK_EQ(put("s", "two", &err), -EBUSY);
	CHECK(strstr(err.text, "s is being written by another process") != NULL);
	CHECK_STR(fixture_text("s"), "one");
	close(fd);
	CHECK(!file_in_use(fixture_path("s"), &pid));
	CHECK_EQ(put("s", "two", &err), 0);
	unlink(fixture_path("s"));
	unlink(fixture_path("s.old"));
	unlink(fixture_path("s-lock"));
	CHECK(fixture_is_empty());
}

static void one_file_has_many_names(void)
{
	char a[128], b[128], c[128];

	snprintf(a, sizeof(a), "%s/a", fixture_dir);
	snprintf(b, sizeof(b), "%s/./a", fixture_dir);
	snprintf(c, sizeof(c), "%s/c", fixture_dir);
	CHECK(file_in_use_same(a, b)); /* where there is none yet */
	CHECK(!file_in_use_same(a, c));
	CHECK_EQ(put("a", "one", NULL), 0);
	CHECK(file_in_use_same(a, b));
	CHECK(!file_in_use_same(a, c));
	CHECK_EQ(link(a, c), 0);
	CHECK(file_in_use_same(a, c));
	unlink(a);
	unlink(c);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(an_older_file_stays_as_old);
	RUN(nothing_is_lost_if_an_old_file_exists);
	RUN(links_and_directories_are_refused);
	RUN(unwritable_targets_are_detected_early);
	RUN(a_replacement_gets_the_files_name_when_it_is_complete);
	RUN(a_file_in_use_is_not_replaced);
	RUN(locks_of_bytes_are_no_mark);
	RUN(logs_of_a_database_go_with_it);
	RUN(a_store_that_is_written_is_left_in_its_place);
	RUN(one_file_has_many_names);
	fixture_end();
	return check_end();
}
