/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/served_mount.h"

#include "base/read/regular_file.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* The result is the same as that of the kernel's own path resolution. */
static void same_place(const char *path)
{
	int fd = served_mount_path(path, 0, NULL);
	struct stat walked, st;

	CHECK_EQ(stat(path, &st), 0);
	CHECK(fd >= 0);
	CHECK_EQ(fstat(fd, &walked), 0);
	CHECK_EQ(walked.st_ino, st.st_ino);
	CHECK_EQ(walked.st_dev, st.st_dev);
	close(fd);
}

static void paths_lead_where_the_kernel_leads(void)
{
	char directory[] = "/tmp/assay-served-XXXXXX";
	struct stat st;
	int link;

	CHECK(mkdtemp(directory) != NULL);
	CHECK_EQ(chdir(directory), 0);
	CHECK_EQ(mkdir("d", 0755), 0);
	close(open("d/file", O_CREAT | O_WRONLY, 0644));
	CHECK_EQ(symlink("d/../d/./file", "relative"), 0);
	CHECK_EQ(symlink(directory, "d/absolute"), 0);
	CHECK_EQ(symlink("loop", "loop"), 0);
	same_place("/");
	same_place(".");
	same_place("d//file");
	same_place("relative");
	same_place("d/absolute/relative");
	same_place("/bin/sh");
	same_place("/proc/self/exe");
	same_place("/proc/self/cwd/d/file");
	link = served_mount_path("relative", O_NOFOLLOW, NULL);
	CHECK(link >= 0 && !fstat(link, &st) && S_ISLNK(st.st_mode));
	close(link);
	CHECK_EQ(served_mount_path("loop", 0, NULL), -ELOOP);
	CHECK_EQ(served_mount_path("d/absent", 0, NULL), -ENOENT);
	CHECK_EQ(served_mount_path("d/file/more", 0, NULL), -ENOTDIR);
	unlink("relative");
	unlink("loop");
	unlink("d/absolute");
	unlink("d/file");
	rmdir("d");
	CHECK_EQ(chdir("/"), 0);
	rmdir(directory);
}

/* A file system of user 4242, whose server answers nothing. */
static bool mount_served(const char *directory, int fuse)
{
	char options[96];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=4242,group_id=4242", fuse);
	return !mount("none", directory, "fuse", 0, options);
}

static void no_caller_enters(const char *path)
{
	struct stat st;

	CHECK(served_mount_any());
	CHECK_EQ(served_mount_path(path, 0, NULL), -EREMOTE);
	CHECK_EQ(regular_file_open_recorded(path, 0, NULL, &st), -EREMOTE);
	CHECK_EQ(regular_file_open_recorded(path, O_NOFOLLOW, NULL, &st), -EREMOTE);
}

static void a_change_of_the_mounts_is_seen(void)
{
	char directory[] = "/tmp/assay-served-XXXXXX", path[64];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fuse < 0 || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("# not tested: no FUSE file system may be mounted here\n");
		return;
	}
	CHECK(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/file", directory);
	CHECK_EQ(served_mount_path(path, 0, NULL), -ENOENT);
	for (int i = 0; i < 2 && mount_served(directory, fuse); i++) {
		no_caller_enters(path);
		CHECK_EQ(umount2(directory, MNT_DETACH), 0);
		CHECK_EQ(served_mount_path(path, 0, NULL), -ENOENT);
		close(fuse);
		fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	}
	close(fuse);
	rmdir(directory);
}

int main(void)
{
	RUN(a_change_of_the_mounts_is_seen); /* first: it changes the namespace of mounts */
	RUN(paths_lead_where_the_kernel_leads);
	return check_end();
}
