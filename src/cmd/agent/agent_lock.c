/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/agent/agent_lock.h"

#include "base/file/safe_directory.h"
#include "session/daemon/session_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LOCK_FILE "assay.agent"
#define LOCK_OF_ROOT "/run/" LOCK_FILE
#define LOCK_OF_SERVICE "/run/assay-agent/assay/" LOCK_FILE

/* The process that holds a lock of a file with this device and inode; 0: none that is visible. */
static pid_t lock_holder(dev_t device, ino_t inode)
{
	FILE *f = fopen("/proc/locks", "re");
	unsigned long long number;
	unsigned high, low;
	char line[256];
	int pid = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s POSIX %*s WRITE %d %x:%x:%llu", &pid, &high, &low, &number) ==
		            4 &&
		    major(device) == high && minor(device) == low && inode == number)
			break;
		pid = 0;
	}
	if (f)
		fclose(f);
	return pid > 0 ? pid : 0;
}

static int lock_refused(pid_t holder, struct error *err)
{
	char path[32];
	struct stat st = {0};

	snprintf(path, sizeof(path), "/proc/%d", (int)holder);
	stat(path, &st);
	return error_set(err, EEXIST,
	                 "an agent runs on this machine, as process %d of user %u; 'assay status "
	                 "--name agent' of that user shows its state; end it first: 'systemctl "
	                 "stop assay-agent', or 'kill %d'",
	                 (int)holder, (unsigned)st.st_uid, (int)holder);
}

/* A lock of another user. The directories above these paths are root's. */
static int lock_look(const char *path, struct error *err)
{
	struct stat st;
	pid_t holder = lstat(path, &st) ? 0 : lock_holder(st.st_dev, st.st_ino);

	return holder ? lock_refused(holder, err) : 0;
}

/* The directory of this user's lock. */
static int lock_directory(char **path, struct error *err)
{
	int fd = -1;

	*path = NULL;
	if (!geteuid())
		fd = safe_directory_open("/run", SAFE_DIRECTORY_OURS | SAFE_DIRECTORY_CLOSED, path,
		                         NULL);
	/* For root without /run. */
	return fd < 0 ? session_directory_open(path, true, err) : fd;
}

static int lock_file(int directory, const char *path, int *fd, struct error *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	*fd = openat(directory, LOCK_FILE,
	             O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (*fd < 0)
		return error_set(err, errno, "%s/" LOCK_FILE ": %s", path, strerror(errno));
	if (!fcntl(*fd, F_SETLK, &lock))
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return error_set(err, errno, "%s/" LOCK_FILE ": %s", path, strerror(errno));
	if (fcntl(*fd, F_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_pid <= 0)
		return error_set(err, EEXIST,
		                 "an agent is just starting or ending on this machine: try again");
	return lock_refused(lock.l_pid, err);
}

int agent_lock_take(int *fd, struct error *err)
{
	int status = lock_look(geteuid() ? LOCK_OF_ROOT : LOCK_OF_SERVICE, err), directory;
	char *path;

	*fd = -1;
	if (status)
		return status;
	directory = lock_directory(&path, err);
	if (directory < 0)
		return directory;
	status = lock_file(directory, path, fd, err);
	if (status && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	close(directory);
	free(path);
	return status;
}
