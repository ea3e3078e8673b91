/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/served_mount.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The walk ends where the kernel's own does. */
static void same_place(const char *path)
{
	int fd = served_mount_path(path);
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
	CHECK_EQ(served_mount_path("loop"), -ELOOP);
	CHECK_EQ(served_mount_path("d/absent"), -ENOENT);
	CHECK_EQ(served_mount_path("d/file/more"), -ENOTDIR);
	unlink("relative");
	unlink("loop");
	unlink("d/absolute");
	unlink("d/file");
	rmdir("d");
	CHECK_EQ(chdir("/"), 0);
	rmdir(directory);
}

int main(void)
{
	RUN(paths_lead_where_the_kernel_leads);
	return check_end();
}
