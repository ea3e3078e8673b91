/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

bool input_file_is_pipe(const char *path, mode_t mode)
{
	struct statfs fs;

	return S_ISFIFO(mode) && !statfs(path, &fs) && fs.f_type == PIPEFS_MAGIC;
}

int input_file_refuse(const char *path, mode_t mode, struct error *err)
{
	if (S_ISFIFO(mode))
		return error_set(err, EINVAL,
		                 "cannot read %s: it is a named pipe, which may never have a "
		                 "writer; give '-' as the file, and redirect standard input from "
		                 "the pipe",
		                 path);
	return error_set(err, EINVAL, "cannot read %s: it is a %s, not a file", path,
	                 S_ISSOCK(mode) ? "socket" : "device");
}

static int cannot_read(const char *path, int code, struct error *err)
{
	return error_set(err, code, "cannot read %s: %s", path, strerror(code));
}

static int check(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return cannot_read(path, errno, err);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !input_file_is_pipe(path, st.st_mode))
		return input_file_refuse(path, st.st_mode, err);
	/* Reading waits for the writer of a pipe. */
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return 0;
}

int input_file_open(const char *path, struct error *err)
{
	struct stat st;
	int fd, status;

	if (!strcmp(path, "-"))
		return STDIN_FILENO;
	/* An open() of a device may have an effect. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
	    !input_file_is_pipe(path, st.st_mode))
		return input_file_refuse(path, st.st_mode, err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return cannot_read(path, errno, err);
	status = check(fd, path, err);
	if (!status)
		return fd;
	close(fd);
	return status;
}

void input_file_close(int fd)
{
	if (fd != STDIN_FILENO)
		close(fd);
}

const char *input_file_name(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "standard input";
}

int input_file_read(int fd, const char *name, size_t limit, const char *advice, struct buf *all,
                    struct error *err)
{
	ssize_t n;

	while ((n = buf_read(all, fd)) > 0)
		if (all->size > limit)
			return error_set(err, EFBIG, "%s has more than %zu MB: %s", name,
			                 limit >> 20, advice);
	return n ? cannot_read(name, (int)-n, err) : 0;
}
