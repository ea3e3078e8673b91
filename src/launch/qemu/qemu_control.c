/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/qemu/qemu_control.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *fifo_of(const char *trace)
{
	return xasprintf("%s/.control", trace);
}

/* A FIFO without a reader cannot be opened for writing: ENXIO. */
static int open_fifo(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISFIFO(st.st_mode))
		return fd;
	if (fd >= 0) {
		close(fd);
		return error_set(err, EINVAL, "%s is not a FIFO of the capture device", path);
	}
	if (errno == ENXIO)
		return error_set(err, errno, "%s: QEMU does not run any more", path);
	if (errno == ENOENT || errno == ENOTDIR)
		return error_set(err, errno,
		                 "%s does not exist; name a process id, or the trace of a running "
		                 "QEMU with the capture device",
		                 path);
	return error_set(err, errno, "%s cannot be opened: %s", path, strerror(errno));
}

int qemu_control_switch(const char *trace, bool on, struct error *err)
{
	const char *line = on ? "start\n" : "stop\n";
	char *path = fifo_of(trace);
	int fd = open_fifo(path, err), rc = fd < 0 ? fd : 0;

	if (!rc && write(fd, line, strlen(line)) < 0)
		rc = error_set(err, errno, "%s cannot be written: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

void qemu_control_remove(const char *trace)
{
	char *path = fifo_of(trace);

	unlink(path);
	free(path);
}
