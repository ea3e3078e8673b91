/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache: stored files are found complete; directories and files that others could have written
 * are refused.
 */
#include "base/file/cache_dir.h"
#include "base/memory/xalloc.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct error err;

/* A cache in a new parent directory of that name. */
static struct cache_dir *open_in(const char *parent)
{
	struct cache_dir *c;

	setenv("XDG_CACHE_HOME", fixture_path(parent), 1);
	return cache_dir_open(&c, &err) ? NULL : c;
}

static void make_old(const char *path, time_t seconds)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {0}};

	times[1] = times[0];
	CHECK_EQ(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static time_t changed(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_mtime;
}

/* Returns the bytes found under a name, or the error. */
static ssize_t found(struct cache_dir *c, const char *kind, const char *name, char *into,
                     size_t size)
{
	int fd = cache_dir_find(c, kind, name);
	ssize_t got;

	if (fd < 0)
		return fd;
	got = read(fd, into, size);
	close(fd);
	return got;
}

static void test_kept_is_found(void)
{
	struct cache_dir *c = open_in("kept/below");
	char bytes[16] = "";
	struct stat st;
	char *path;

	CHECK(c);
	CHECK_EQ(cache_dir_find(c, "unwind", "0123"), -ENOENT);
	CHECK_EQ(cache_dir_keep(c, "unwind", "0123", "first one", 9, &err), 0);
	CHECK_EQ(cache_dir_keep(c, "unwind", "0123", "second", 6, &err), 0);
	CHECK_EQ(found(c, "unwind", "0123", bytes, sizeof(bytes)), 6);
	CHECK(!memcmp(bytes, "second", 6));
	CHECK_EQ(cache_dir_find(c, "image", "0123"), -ENOENT);
	path = cache_dir_path(c, "unwind", "0123");
	CHECK_STR(path, fixture_path("kept/below/assay/unwind/0123"));
	CHECK(!stat(path, &st) && st.st_mode == (S_IFREG | 0600));
	CHECK(!stat(fixture_path("kept/below/assay/unwind"), &st) &&
	      st.st_mode == (S_IFDIR | 0700));
	CHECK(!stat(fixture_path("kept/below"), &st) && st.st_mode == (S_IFDIR | 0700));
	cache_dir_remove(c, "unwind", "0123");
	CHECK_EQ(cache_dir_find(c, "unwind", "0123"), -ENOENT);
	free(path);
	cache_dir_close(c);
}

static void test_contents_are_mapped_within_bounds(void)
{
	struct cache_dir *c = open_in("mapped");
	size_t size = 0;
	char *contents;

	CHECK_EQ(cache_dir_keep(c, "unwind", "0123", "second", 6, &err), 0);
	CHECK(!cache_dir_map(c, "unwind", "0124", 0, 6, &size));
	CHECK(!cache_dir_map(c, "unwind", "0123", 7, 100, &size));
	CHECK(!cache_dir_map(c, "unwind", "0123", 0, 5, &size));
	CHECK(!cache_dir_map(NULL, "unwind", "0123", 0, 6, &size));
	contents = cache_dir_map(c, "unwind", "0123", 6, 6, &size);
	CHECK(contents && size == 6 && !memcmp(contents, "second", 6));
	/* A reader that has mapped a file still has it after it was deleted. */
	cache_dir_remove(c, "unwind", "0123");
	CHECK(contents && !memcmp(contents, "second", 6));
	if (contents)
		munmap(contents, size);
	cache_dir_close(c);
}

static void test_home(void)
{
	struct cache_dir *c;

	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", fixture_path("home"), 1);
	CHECK_EQ(cache_dir_open(&c, &err), 0);
	CHECK_EQ(access(fixture_path("home/.cache/assay"), F_OK), 0);
	CHECK(access("relative", F_OK));
	cache_dir_close(c);
	unsetenv("HOME");
	CHECK_EQ(cache_dir_open(&c, &err), -ENOENT);
	CHECK(!c && strstr(err.text, "XDG_CACHE_HOME"));
}

static void test_no_cache_keeps_nothing(void)
{
	CHECK_EQ(cache_dir_find(NULL, "unwind", "0"), -ENOENT);
	CHECK_EQ(cache_dir_keep(NULL, "unwind", "0", "x", 1, &err), 0);
	CHECK_EQ(cache_dir_keep_file(NULL, "unwind", "0", 0, &err), 0);
	CHECK(!cache_dir_path(NULL, "unwind", "0"));
	cache_dir_remove(NULL, "unwind", "0");
	cache_dir_trim(NULL, "unwind", 0);
	cache_dir_close(NULL);
}

static void test_names(void)
{
	static const char *const bad[] = {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\n"};
	struct cache_dir *c = open_in("names");
	char *path;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(cache_dir_keep(c, "unwind", bad[i], "x", 1, &err), -EINVAL);
		CHECK_EQ(cache_dir_keep(c, bad[i], "name", "x", 1, &err), -EINVAL);
		CHECK_EQ(cache_dir_find(c, "unwind", bad[i]), -EINVAL);
		CHECK(!cache_dir_path(c, "unwind", bad[i]));
	}
	path = cache_dir_path(c, "unwind", "A-z_0.9");
	CHECK(path);
	free(path);
	cache_dir_close(c);
}

static void test_others_directory_is_refused(void)
{
	struct cache_dir *c = open_in("refused");
	char bytes[4];

	CHECK_EQ(cache_dir_keep(c, "unwind", "0", "x", 1, &err), 0);
	/* Another user may have put a file into the directory of the kind. */
	CHECK_EQ(chmod(fixture_path("refused/assay/unwind"), 0770), 0);
	CHECK_EQ(cache_dir_find(c, "unwind", "0"), -EPERM);
	CHECK_EQ(cache_dir_keep(c, "unwind", "1", "x", 1, &err), -EPERM);
	CHECK(strstr(err.text, "assay/unwind: not used as a cache"));
	CHECK_EQ(chmod(fixture_path("refused/assay/unwind"), 0755), 0);
	CHECK_EQ(found(c, "unwind", "0", bytes, sizeof(bytes)), 1);
	/* Or may have written to the file. */
	CHECK_EQ(chmod(fixture_path("refused/assay/unwind/0"), 0602), 0);
	CHECK_EQ(cache_dir_find(c, "unwind", "0"), -EPERM);
	cache_dir_close(c);
	CHECK_EQ(chmod(fixture_path("refused/assay"), 0777), 0);
	CHECK(!open_in("refused"));
	CHECK(err.code == EPERM && strstr(err.text, "refused/assay: not used as a cache"));
	CHECK_EQ(chmod(fixture_path("refused/assay"), 0700), 0);
	if (geteuid() == 0) {
		CHECK_EQ(chown(fixture_path("refused/assay"), 1, 1), 0);
		CHECK(!open_in("refused"));
		/* Directories are not created in the home of another user. */
		CHECK_EQ(mkdir(fixture_path("other"), 0755), 0);
		CHECK_EQ(chown(fixture_path("other"), 1, 1), 0);
		CHECK(!open_in("other"));
		CHECK(access(fixture_path("other/assay"), F_OK));
	}
}

static void test_links_are_not_followed(void)
{
	struct cache_dir *c;
	char bytes[4];

	CHECK_EQ(mkdir(fixture_path("links"), 0700), 0);
	CHECK_EQ(mkdir(fixture_path("elsewhere"), 0700), 0);
	CHECK_EQ(symlink(fixture_path("elsewhere"), fixture_path("links/assay")), 0);
	CHECK(!open_in("links"));
	CHECK(strstr(err.text, "links/assay: not used as a cache"));
	CHECK_EQ(unlink(fixture_path("links/assay")), 0);
	c = open_in("links");
	CHECK_EQ(symlink(fixture_path("elsewhere"), fixture_path("links/assay/unwind")), 0);
	CHECK(cache_dir_keep(c, "unwind", "0", "x", 1, &err) < 0);
	CHECK(access(fixture_path("elsewhere/0"), F_OK));
	CHECK_EQ(unlink(fixture_path("links/assay/unwind")), 0);
	/* A link at a file's path is not read; it is replaced, and not written through. */
	CHECK_EQ(cache_dir_keep(c, "unwind", "1", "x", 1, &err), 0);
	CHECK_EQ(
	        symlink(fixture_path("links/assay/unwind/1"), fixture_path("links/assay/unwind/0")),
	        0);
	CHECK_EQ(cache_dir_find(c, "unwind", "0"), -ELOOP);
	CHECK_EQ(cache_dir_keep(c, "unwind", "0", "yy", 2, &err), 0);
	CHECK_EQ(found(c, "unwind", "1", bytes, sizeof(bytes)), 1);
	CHECK_EQ(found(c, "unwind", "0", bytes, sizeof(bytes)), 2);
	/* A FIFO does not block. */
	CHECK_EQ(mkfifo(fixture_path("links/assay/unwind/2"), 0600), 0);
	CHECK_EQ(cache_dir_find(c, "unwind", "2"), -EPERM);
	cache_dir_close(c);
	/* A link in the path to the cache is followed. */
	CHECK_EQ(symlink(fixture_path("elsewhere"), fixture_path("way")), 0);
	c = open_in("way/there");
	CHECK(c);
	CHECK_EQ(access(fixture_path("elsewhere/there/assay"), F_OK), 0);
	cache_dir_close(c);
}

static void test_file_is_kept_from_its_start(void)
{
	struct cache_dir *c = open_in("files");
	static char bytes[200000], back[200001];
	int fd = open(fixture_path("original"), O_RDWR | O_CREAT, 0600), pipes[2];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 256);
	CHECK_EQ(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	CHECK_EQ(lseek(fd, 1234, SEEK_SET), 1234);
	CHECK_EQ(cache_dir_keep_file(c, "image", "0", fd, &err), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 1234);
	CHECK_EQ(found(c, "image", "0", back, sizeof(back)), sizeof(bytes));
	CHECK(!memcmp(bytes, back, sizeof(bytes)));
	close(fd);
	CHECK_EQ(pipe(pipes), 0);
	CHECK_EQ(cache_dir_keep_file(c, "image", "1", pipes[0], &err), -EINVAL);
	CHECK_EQ(cache_dir_find(c, "image", "1"), -ENOENT);
	close(pipes[0]);
	close(pipes[1]);
	cache_dir_close(c);
}

static void test_trim_takes_the_longest_unused(void)
{
	struct cache_dir *c = open_in("trim");
	char bytes[100] = {0};
	int fd;

	for (char name[2] = "a"; name[0] <= 'd'; name[0]++)
		CHECK_EQ(cache_dir_keep(c, "unwind", name, bytes, sizeof(bytes), &err), 0);
	make_old(fixture_path("trim/assay/unwind/a"), 40000);
	make_old(fixture_path("trim/assay/unwind/b"), 50000);
	make_old(fixture_path("trim/assay/unwind/c"), 30000);
	make_old(fixture_path("trim/assay/unwind/d"), 600);
	/* b is used; d was used recently, so its time is not updated. */
	CHECK_EQ(found(c, "unwind", "b", bytes, sizeof(bytes)), 100);
	CHECK(changed(fixture_path("trim/assay/unwind/b")) > time(NULL) - 60);
	CHECK_EQ(found(c, "unwind", "d", bytes, sizeof(bytes)), 100);
	CHECK(changed(fixture_path("trim/assay/unwind/d")) < time(NULL) - 500);
	/* Temporary files of a dead writer are removed, those of a living one stay. */
	fd = open(fixture_path("trim/assay/unwind/.new-0"), O_CREAT | O_RDWR, 0600);
	close(fd);
	make_old(fixture_path("trim/assay/unwind/.new-0"), 3600);
	fd = open(fixture_path("trim/assay/unwind/.new-1"), O_CREAT | O_RDWR, 0600);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	make_old(fixture_path("trim/assay/unwind/.new-1"), 3600);
	cache_dir_trim(c, "unwind", 300);
	CHECK(access(fixture_path("trim/assay/unwind/a"), F_OK));
	CHECK_EQ(access(fixture_path("trim/assay/unwind/c"), F_OK), 0);
	CHECK(access(fixture_path("trim/assay/unwind/.new-0"), F_OK));
	CHECK_EQ(access(fixture_path("trim/assay/unwind/.new-1"), F_OK), 0);
	close(fd);
	cache_dir_trim(c, "unwind", 299);
	CHECK(access(fixture_path("trim/assay/unwind/c"), F_OK));
	CHECK_EQ(access(fixture_path("trim/assay/unwind/b"), F_OK), 0);
	cache_dir_trim(c, "unwind", 0);
	CHECK(access(fixture_path("trim/assay/unwind/b"), F_OK));
	cache_dir_close(c);
}

#define WRITES 200
#define WRITE_BYTES 50000

static void write_often(struct cache_dir *c, char value)
{
	char *bytes = xmalloc(WRITE_BYTES);

	memset(bytes, value, WRITE_BYTES);
	for (int i = 0; i < WRITES; i++)
		if (cache_dir_keep(c, "unwind", "same", bytes, WRITE_BYTES, NULL))
			_exit(1);
	_exit(0);
}

/* While two processes write, each read returns the complete file of one of them. */
static void test_two_writers(void)
{
	struct cache_dir *c = open_in("writers");
	static char bytes[WRITE_BYTES + 1];
	int status, left = 2, reads = 0, whole = 0;

	for (char value = 'A'; value <= 'B'; value++)
		if (fork() == 0)
			write_often(c, value);
	while (left) {
		ssize_t got = found(c, "unwind", "same", bytes, sizeof(bytes));

		if (got != -ENOENT) {
			reads++;
			whole += got == WRITE_BYTES && (bytes[0] == 'A' || bytes[0] == 'B') &&
			         !memcmp(bytes, bytes + 1, WRITE_BYTES - 1);
		}
		while (left && waitpid(-1, &status, WNOHANG) > 0) {
			CHECK_EQ(status, 0);
			left--;
		}
	}
	CHECK(reads > 0);
	CHECK_EQ(whole, reads);
	cache_dir_close(c);
}

/* A full disk causes an error that describes it, and leaves no file. */
static void test_full_disk(void)
{
	static const char command[] = "ls -A '%s' | wc -l | grep -qx 0";
	char line[400];
	struct cache_dir *c = open_in("full");
	static char bytes[100000];
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		/* A limit on the size of files fails a write in the same way. */
		snprintf(line, sizeof(line), command, fixture_path("full/assay/unwind"));
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){50000, 50000});
		if (cache_dir_keep(c, "unwind", "0", bytes, sizeof(bytes), &err) != -EFBIG)
			_exit(1);
		_exit(system(line) ? 2 : 0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	cache_dir_close(c);
}

int main(void)
{
	if (!fixture_begin())
		return 2;
	umask(022);
	RUN(test_kept_is_found);
	RUN(test_contents_are_mapped_within_bounds);
	RUN(test_home);
	RUN(test_no_cache_keeps_nothing);
	RUN(test_names);
	RUN(test_others_directory_is_refused);
	RUN(test_links_are_not_followed);
	RUN(test_file_is_kept_from_its_start);
	RUN(test_trim_takes_the_longest_unused);
	RUN(test_two_writers);
	RUN(test_full_disk);
	fixture_end();
	return check_end();
}
