/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_namer: files are read by the rights of the user who chose their paths. */
#include "base/read/file_namer.h"

#include "base/read/regular_file.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NAMER 4242
#define THIRD 4343

static char top[] = "/tmp/assay-namer-XXXXXX";

/* A file `name` below the directory of the test. */
static void make(const char *name, mode_t mode, uid_t user, gid_t group)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_EQ(fchown(fd, user, group), 0);
	CHECK_EQ(fchmod(fd, mode), 0);
	close(fd);
}

static void make_directory(const char *name, mode_t mode, uid_t user)
{
	CHECK(!mkdir(name, 0700) || errno == EEXIST);
	CHECK_EQ(lchown(name, user, user), 0);
	CHECK_EQ(chmod(name, mode), 0);
}

static void make_link(const char *to, const char *name, uid_t user)
{
	unlink(name);
	CHECK_EQ(symlink(to, name), 0);
	CHECK_EQ(lchown(name, user, user), 0);
}

/* 0 or -errno of the whole path, and of the same path relative to the current directory. */
static int opens(const char *name, const struct file_namer *namer)
{
	char path[256];
	struct stat st;
	int fd, again;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	fd = regular_file_open_recorded(path, 0, namer, &st);
	again = regular_file_open_recorded(name, 0, namer, &st);
	CHECK_EQ(fd < 0 ? fd : 0, again < 0 ? again : 0);
	if (again >= 0)
		close(again);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static const struct file_namer namer = {.user = NAMER}, root;

static void modes_give_rights(void)
{
	static const struct {
		mode_t mode;
		uid_t user;
		int known, unknown;
	} cases[] = {
	        {0644, 0, 0, 0},           {0600, 0, -EPERM, -EPERM},     {0640, 0, -EPERM, -EPERM},
	        {0604, 0, -EPERM, -EPERM}, {0400, NAMER, 0, -EPERM},      {0044, NAMER, -EPERM, 0},
	        {0644, THIRD, 0, 0},       {0600, THIRD, -EPERM, -EPERM},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make("file", cases[i].mode, cases[i].user, 0);
		CHECK_EQ(opens("file", &namer), cases[i].known);
		CHECK_EQ(opens("file", &file_namer_unknown), cases[i].unknown);
		CHECK_EQ(opens("file", &root), 0);
		CHECK_EQ(opens("file", NULL), 0);
	}
	CHECK_EQ(opens("absent", &namer), -ENOENT);
	CHECK_EQ(opens("file/more", &namer), -EPERM);
}

static void closed_directories_hide_public_files(void)
{
	make_directory("closed", 0700, 0);
	make_directory("closed/open", 0755, 0);
	make("closed/open/file", 0644, 0, 0);
	CHECK_EQ(opens("closed/open/file", &namer), -EPERM);
	CHECK_EQ(opens("closed/open/file", &root), 0);
	/* The directories above the current one count for a relative path. */
	CHECK_EQ(chdir("closed/open"), 0);
	CHECK_EQ(regular_file_open_recorded("file", 0, &namer, &(struct stat){0}), -EPERM);
	CHECK_EQ(chdir(top), 0);
	make_directory("closed", 0711, 0);
	CHECK_EQ(opens("closed/open/file", &namer), 0);
	make_directory("closed", 0700, NAMER);
	CHECK_EQ(opens("closed/open/file", &namer), 0);
	CHECK_EQ(opens("closed/open/file", &file_namer_unknown), -EPERM);
}

static void links_of_others_are_not_followed(void)
{
	make("file", 0644, 0, 0);
	make_link("file", "link", THIRD);
	CHECK_EQ(opens("link", &namer), -EPERM);
	make_link("file", "link", NAMER);
	CHECK_EQ(opens("link", &namer), 0);
	make_link("file", "link", 0);
	CHECK_EQ(opens("link", &namer), 0);
	make_directory("closed", 0700, 0);
	make("closed/file", 0644, 0, 0);
	make_link("closed", "link", NAMER);
	CHECK_EQ(opens("link/file", &namer), -EPERM);
}

/* An ACL may deny what the mode allows: its second entry gives the user no right. */
static void a_file_with_an_acl_is_left_out(void)
{
	static const uint32_t acl[] = {2,          0x00060001, UINT32_MAX, 0x00000002,
	                               NAMER,      0x00040004, UINT32_MAX, 0x00040010,
	                               UINT32_MAX, 0x00040020, UINT32_MAX};

	make("file", 0644, 0, 0);
	if (setxattr("file", "system.posix_acl_access", acl, sizeof(acl), 0)) {
		printf("# not tested: no ACL here: %s\n", strerror(errno));
		return;
	}
	CHECK_EQ(opens("file", &namer), -EPERM);
	CHECK_EQ(opens("file", &root), 0);
	unlink("file");
}

static void modes_in_proc_are_no_rights(void)
{
	struct file_namer in_process = namer;
	char path[256];
	struct stat st;
	int fd;

	CHECK_EQ(regular_file_open_recorded("/proc/self/maps", 0, &namer, &st), -EPERM);
	make("file", 0644, 0, 0);
	snprintf(path, sizeof(path), "/proc/%d/root%s/file", getpid(), top);
	CHECK_EQ(regular_file_open_recorded(path, 0, &namer, &st), -EPERM);
	in_process.process = getpid();
	fd = regular_file_open_recorded(path, 0, &in_process, &st);
	CHECK(fd >= 0);
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/root/proc/self/maps", getpid());
	CHECK_EQ(regular_file_open_recorded(path, 0, &in_process, &st), -EPERM);
}

static struct file_namer of(mode_t mode, uid_t user, gid_t group)
{
	struct file_namer n;
	int fd;

	make("names", mode, user, group);
	fd = open("names", O_PATH);
	n = file_namer_of(fd);
	close(fd);
	return n;
}

static void writers_of_a_file_are_its_namers(void)
{
	struct file_namer public, third = {.user = THIRD};

	CHECK_EQ(of(0755, NAMER, 100).user, NAMER);
	CHECK_EQ(of(0775, NAMER, NAMER).user, NAMER);
	CHECK_EQ(of(0775, NAMER, 100).user, FILE_NAMER_UNKNOWN);
	CHECK_EQ(of(0777, NAMER, NAMER).user, FILE_NAMER_UNKNOWN);
	CHECK_EQ(of(0775, 0, 100).user, FILE_NAMER_UNKNOWN);
	CHECK_EQ(of(0775, 0, 0).user, 0);
	CHECK_EQ(file_namer_of(-1).user, FILE_NAMER_UNKNOWN);
	CHECK_EQ(file_namer_both(namer, root).user, NAMER);
	CHECK_EQ(file_namer_both(root, namer).user, NAMER);
	CHECK_EQ(file_namer_both(namer, namer).user, NAMER);
	CHECK_EQ(file_namer_both(namer, third).user, FILE_NAMER_UNKNOWN);
	CHECK_EQ(file_namer_both(namer, file_namer_unknown).user, FILE_NAMER_UNKNOWN);
	/* A program of root that all users may read may be a copy of another user's. */
	public = of(0755, 0, 0);
	CHECK(public.is_public);
	make("file", 0600, 0, 0);
	CHECK_EQ(opens("file", &public), -EPERM);
	make("file", 0644, 0, 0);
	CHECK_EQ(opens("file", &public), 0);
	CHECK(!of(0700, 0, 0).is_public);
}

static void the_kernel_checks_a_library(void)
{
	struct file_namer_visit visit;
	int fd;

	make("file", 0640, 0, 0);
	file_namer_enter(&visit, &namer);
	CHECK(visit.entered);
	fd = open("file", O_RDONLY);
	CHECK(fd < 0 && errno == EACCES);
	file_namer_leave(&visit);
	fd = open("file", O_RDONLY);
	CHECK(fd >= 0);
	close(fd);
	file_namer_enter(&visit, &root);
	CHECK(!visit.entered);
	file_namer_leave(&visit);
}

/* The path is exchanged with a link to a secret without end: the file that was checked is read. */
static void a_path_that_changes_gives_no_other_file(void)
{
	struct stat st, secret;
	unsigned opened = 0;
	pid_t swapper;

	make("secret", 0600, 0, 0);
	make("plain", 0644, NAMER, NAMER);
	make_link("secret", "other", NAMER);
	CHECK_EQ(stat("secret", &secret), 0);
	swapper = fork();
	while (!swapper)
		if (renameat2(AT_FDCWD, "plain", AT_FDCWD, "other", RENAME_EXCHANGE))
			_exit(1);
	for (int i = 0; i < 20000; i++) {
		int fd = regular_file_open_recorded("plain", 0, &namer, &st);

		if (fd < 0) {
			CHECK(fd == -EPERM || fd == -ELOOP || fd == -ENOENT);
			continue;
		}
		CHECK(!fstat(fd, &st) && st.st_ino != secret.st_ino);
		opened++;
		close(fd);
	}
	kill(swapper, SIGKILL);
	waitpid(swapper, NULL, 0);
	CHECK(opened > 0);
}

int main(void)
{
	char command[64];

	if (geteuid()) {
		printf("1..0 # SKIP only root can act for other users\n");
		return 0;
	}
	umask(0);
	CHECK(mkdtemp(top) != NULL);
	CHECK_EQ(chmod(top, 0755), 0);
	CHECK_EQ(chdir(top), 0);
	RUN(modes_give_rights);
	RUN(closed_directories_hide_public_files);
	RUN(links_of_others_are_not_followed);
	RUN(a_file_with_an_acl_is_left_out);
	RUN(modes_in_proc_are_no_rights);
	RUN(writers_of_a_file_are_its_namers);
	RUN(the_kernel_checks_a_library);
	RUN(a_path_that_changes_gives_no_other_file);
	CHECK_EQ(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -r %s", top);
	CHECK_EQ(system(command), 0);
	return check_end();
}
