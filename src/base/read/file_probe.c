/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/file_probe.h"

#include "base/process/foreign.h"
#include "base/memory/vec.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Maximum number of probing processes. A process is replaced when FOREIGN_STUCK_USER files hang in
 * it. After this many processes a report opens no further file, since each file that hangs costs
 * PROBE_MS.
 */
#define PROCESSES_MAX 8
#define PROBE_MS 1000 /* longer than for other users' processes: a disk may have to spin up */

static struct {
	pthread_mutex_t lock;
	struct foreign *foreign; /* NULL: no file is probed */
	unsigned processes;
	VEC(char *) hung; /* paths that did not answer */
} probe = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void start(void)
{
	struct foreign_options options = {.keep = -1};

	foreign_close(probe.foreign);
	probe.foreign = NULL;
	probe.processes++;
	foreign_open(&probe.foreign, &options, NULL);
}

void file_probe_begin(void)
{
	if (!probe.processes)
		start();
}

void file_probe_end(void)
{
	foreign_close(probe.foreign);
	probe.foreign = NULL;
}

static int touch(const void *in, size_t size, struct foreign_reply *reply)
{
	const char *path = in;
	struct stat st;
	char byte;
	int fd;

	/* The caller gets the same error when it opens the file. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, &byte, 1, 0) < 0)
		errno = 0;
	close(fd);
	return 0;
}

/*
 * An absolute path, since the other process has another current directory. The caller frees it;
 * NULL: there is none.
 */
static char *absolute(const char *path)
{
	char here[PATH_MAX];

	if (path[0] == '/')
		return xstrdup(path);
	return getcwd(here, sizeof(here)) ? xasprintf("%s/%s", here, path) : NULL;
}

static bool is_hung(const char *path)
{
	vec_each (hung, &probe.hung)
		if (!strcmp(*hung, path))
			return true;
	return false;
}

static int ask(const char *path)
{
	int status = -ECANCELED;

	if (is_hung(path))
		return -ETIMEDOUT;
	while (probe.foreign) {
		/*
		 * User 0 has no limit on the total time, since a cold disk is slow but no attack.
		 */
		status = foreign_call(probe.foreign, touch, 0, PROBE_MS, path, strlen(path) + 1,
		                      NULL);
		if (status != -ECANCELED || probe.processes >= PROCESSES_MAX)
			break;
		start();
	}
	if (status == -ETIMEDOUT)
		vec_push(&probe.hung, xstrdup(path));
	return status == -ETIMEDOUT || (probe.foreign && status == -ECANCELED) ? -ETIMEDOUT : 0;
}

int file_probe_answers(const char *path)
{
	char *whole;
	int status = 0;

	if (!probe.processes)
		return 0;
	whole = absolute(path);
	pthread_mutex_lock(&probe.lock);
	if (whole)
		status = ask(whole);
	pthread_mutex_unlock(&probe.lock);
	free(whole);
	return status;
}
