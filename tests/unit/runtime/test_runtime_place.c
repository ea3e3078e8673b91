/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of a table, and the directories that are refused: those of other users, writable
 * ones, links.
 */
#include "linux/place.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[64];

static const char *in_base(const char *name)
{
	static char paths[4][512];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", base, name);
	return path;
}

static void plain_environment(void)
{
	unsetenv("ASSAY_CALLS_DIR");
	unsetenv("XDG_RUNTIME_DIR");
}

/* The mode of the file, with its type; 0: there is no file. */
static unsigned mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_mode;
}

static void the_directory_follows_the_environment(void)
{
	char path[4096], want[64];

	plain_environment();
	CHECK_EQ(place_directory("calls", path, sizeof(path)), 0);
	if (geteuid()) {
		snprintf(want, sizeof(want), "/tmp/assay-%u/calls", geteuid());
		CHECK_STR(path, want);
	} else {
		CHECK_STR(path, "/run/assay/calls");
	}
	setenv("XDG_RUNTIME_DIR", "/somewhere", 1);
	CHECK_EQ(place_directory("calls", path, sizeof(path)), 0);
	CHECK_STR(path, "/somewhere/assay/calls");
	setenv("ASSAY_CALLS_DIR", "/there", 1);
	CHECK_EQ(place_directory("calls", path, sizeof(path)), 0);
	CHECK_STR(path, "/there");
	CHECK_EQ(place_directory("calls", path, 6), -ENAMETOOLONG);
	CHECK_EQ(place_directory("calls", path, 7), 0);
	setenv("ASSAY_CALLS_DIR", "", 1); /* as if it were not set */
	CHECK_EQ(place_directory("calls", path, sizeof(path)), 0);
	CHECK_STR(path, "/somewhere/assay/calls");
}

static void the_file_is_new_and_private(void)
{
	char name[128], link[256] = {0}, path[64];
	struct stat st;
	uint64_t bytes = 8192;
	int fd[3];

	setenv("ASSAY_CALLS_DIR", in_base("one//two/three/"), 1);
	for (int i = 0; i < 3; i++) {
		errno = 4711;
		fd[i] = place_create("calls", 77, &bytes, bytes);
		CHECK_EQ(errno, 4711);
		CHECK(fd[i] >= 0);
		CHECK_EQ(fcntl(fd[i], F_GETFD), FD_CLOEXEC);
		CHECK(!fstat(fd[i], &st));
		CHECK_EQ(st.st_mode, S_IFREG | 0600);
		CHECK_EQ(st.st_size, 8192);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[i]);
		CHECK(readlink(path, link, sizeof(link) - 1) > 0);
		snprintf(name, sizeof(name), "%s/one/two/three/%d-77-%d.calls", base, getpid(), i);
		CHECK_STR(link, name);
		memset(link, 0, sizeof(link));
	}
	CHECK_EQ(write(fd[0], "x", 1), 1);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	CHECK_EQ(mode_of(in_base("one")), S_IFDIR | 0700);
	CHECK_EQ(mode_of(in_base("one/two")), S_IFDIR | 0700);
	CHECK_EQ(mode_of(in_base("one/two/three")), S_IFDIR | 0700);
}

static int create_in(const char *name)
{
	uint64_t bytes = 4096;
	int fd;

	setenv("ASSAY_CALLS_DIR", in_base(name), 1);
	fd = place_create("calls", 1, &bytes, bytes);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void an_open_directory_is_refused(void)
{
	CHECK_EQ(mkdir(in_base("open"), 0700), 0);
	CHECK_EQ(create_in("open"), 0);
	for (unsigned bit = 1; bit <= 040; bit <<= 1) {
		CHECK_EQ(chmod(in_base("open"), 0700 | bit), 0);
		CHECK_EQ(create_in("open"), -EPERM);
	}
	CHECK_EQ(chmod(in_base("open"), 0755), 0);
	CHECK_EQ(create_in("open/closed"),
	         0); /* only the last directory must be closed to others */
}

static void a_link_as_the_last_directory_is_refused(void)
{
	CHECK_EQ(mkdir(in_base("real"), 0700), 0);
	CHECK_EQ(symlink(in_base("real"), in_base("link")), 0);
	CHECK(create_in("link") < 0);
	CHECK(create_in("link/") < 0);
	CHECK_EQ(create_in("link/inside"), 0); /* a link of this user in the path is followed */
	CHECK_EQ(mode_of(in_base("real/inside")), S_IFDIR | 0700);
	CHECK_EQ(close(open(in_base("file"), O_CREAT | O_WRONLY, 0600)), 0);
	CHECK_EQ(create_in("file"), -ENOTDIR);
	CHECK_EQ(create_in("file/inside"), -ENOTDIR);
	CHECK_EQ(create_in("real/../other"), 0);
}

static void files_of_other_users_are_refused(void)
{
	if (geteuid()) {
		printf("# not root: no directory of another's can be made\n");
		return;
	}
	CHECK_EQ(mkdir(in_base("anothers"), 0700), 0);
	CHECK_EQ(chown(in_base("anothers"), 4711, 4711), 0);
	CHECK_EQ(create_in("anothers"), -EPERM);
	/* In the path: only refused in a directory in which another user could have created it. */
	CHECK_EQ(create_in("anothers/in"), 0);
	CHECK_EQ(mkdir(in_base("tmp"), 0700), 0);
	CHECK_EQ(chmod(in_base("tmp"), 01777), 0);
	CHECK_EQ(mkdir(in_base("tmp/assay-0"), 0700), 0);
	CHECK_EQ(create_in("tmp/assay-0/calls"), 0);
	CHECK_EQ(chown(in_base("tmp/assay-0"), 4711, 4711), 0);
	CHECK_EQ(create_in("tmp/assay-0/calls"), -EPERM);
	CHECK_EQ(symlink(in_base("real"), in_base("tmp/link")), 0);
	CHECK_EQ(create_in("tmp/link/below"), 0);
	CHECK_EQ(lchown(in_base("tmp/link"), 4711, 4711), 0);
	CHECK_EQ(create_in("tmp/link/below"), -ELOOP);
}

/* A directory that may be entered but not read, as /home often is. */
static void an_unreadable_way_is_gone(void)
{
	int status = 0;
	pid_t child;

	if (geteuid())
		return;
	CHECK_EQ(chmod(base, 0711), 0);
	CHECK_EQ(mkdir(in_base("way"), 0711), 0);
	CHECK_EQ(mkdir(in_base("way/mine"), 0700), 0);
	CHECK_EQ(chown(in_base("way/mine"), 65534, 65534), 0);
	child = fork();
	if (!child)
		_exit(setuid(65534) || create_in("way/mine") || create_in("way/mine/a/b") ||
		      create_in("way/new") != -EACCES);
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
}

/* The same by another method: a shell counts the fields of `stat`; the name is hostile. */
static void the_birth_is_that_of_stat(void)
{
	uint64_t birth = place_birth();
	char old[17] = {0};

	CHECK(birth > 0);
	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, "a) R 1 2 (b) ");
	CHECK_EQ(place_birth(), birth);
	prctl(PR_SET_NAME, ") ) ) )");
	CHECK_EQ(place_birth(), birth);
	prctl(PR_SET_NAME, old);
	for (int i = 0; i < 2; i++) {
		int status = 0;
		pid_t child;

		usleep(30000);
		child = fork();
		if (!child)
			_exit(place_birth() > birth ? 0 : 1);
		waitpid(child, &status, 0);
		CHECK_EQ(status, 0);
	}
}

extern char **environ;

static void variables_are_found_whole(void)
{
	char **kept = environ;
	char *odd[] = {(char *)"AB=1", (char *)"A",   (char *)"=x",
	               (char *)"A=",   (char *)"A=2", NULL};

	environ = odd;
	CHECK_STR(place_environment("AB"), "1");
	CHECK_STR(place_environment("A"), "");
	CHECK(!place_environment("ABC"));
	CHECK(!place_environment("B"));
	environ = NULL; /* before libc is initialized: the kernel's copy */
	CHECK_STR(place_environment("PLACE_TEST"), "from the kernel");
	CHECK(!place_environment("PLACE_TES"));
	environ = kept;
}

/* Executed again, so that the kernel's copy of the environment is known. */
int main(int argc, char **argv)
{
	char command[128];

	if (argc == 1) {
		setenv("PLACE_TEST", "from the kernel", 1);
		execl("/proc/self/exe", argv[0], "again", (char *)NULL);
		return 1;
	}
	snprintf(base, sizeof(base), "/tmp/assay-place-XXXXXX");
	if (!mkdtemp(base))
		return 1;
	umask(0);
	RUN(the_directory_follows_the_environment);
	RUN(the_file_is_new_and_private);
	RUN(an_open_directory_is_refused);
	RUN(a_link_as_the_last_directory_is_refused);
	RUN(files_of_other_users_are_refused);
	RUN(an_unreadable_way_is_gone);
	RUN(the_birth_is_that_of_stat);
	RUN(variables_are_found_whole);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	if (system(command))
		return 1;
	return check_end();
}
