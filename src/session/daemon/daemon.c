/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/daemon.h"

#include "base/file/write_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_MAX (4u << 20)
#define KEPT_FROM 64 /* kept descriptors get this number or more during the cleanup */

int daemon_fork(struct daemon *d, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", strerror(errno));
	d->pid = fork();
	d->ready = ends[d->pid == 0];
	if (d->pid >= 0)
		close(ends[d->pid != 0]);
	if (d->pid >= 0)
		return 0;
	error_set(err, errno, "no process could be started: %s", strerror(errno));
	close(ends[0]);
	close(ends[1]);
	d->ready = -1;
	return -err->code;
}

static void close_from(int first)
{
	const struct dirent *entry;
	DIR *dir;

#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)first, ~0u, 0u))
		return;
#endif
	dir = opendir("/proc/self/fd");
	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd != dirfd(dir))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/*
 * Moves the descriptors to 3, 4, ... in order; first to high numbers, so that none is overwritten.
 */
static int keep_alone(int **keep, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int fd = fcntl(*keep[i], F_DUPFD_CLOEXEC, KEPT_FROM);

		/* EINVAL: the limit of open files is lower. */
		if (fd < 0)
			return errno == EINVAL ? -EMFILE : -errno;
		*keep[i] = fd;
	}
	for (size_t i = 0; i < count; i++) {
		int fd = 3 + (int)i;

		if (dup3(*keep[i], fd, O_CLOEXEC) < 0)
			return -errno;
		*keep[i] = fd;
	}
	close_from(3 + (int)count);
	return 0;
}

static int use_no_terminal(int log)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -errno;
	if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(log >= 0 ? log : null, 2) < 0)
		return -errno;
	if (null > 2)
		close(null);
	return 0;
}

static void signals_as_at_login(void)
{
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		signal(n, SIG_DFL); /* fails for signals that cannot be changed, which is fine */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* as in main.c */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int daemon_settle(struct daemon *d, int **keep, size_t count, int log, struct error *err)
{
	int *all[8] = {&d->ready};
	int rc;

	if (count + 1 > sizeof(all) / sizeof(*all))
		return error_set(err, EINVAL, "too many descriptors are to be kept");
	for (size_t i = 0; i < count; i++)
		all[i + 1] = keep[i];
	signals_as_at_login();
	setsid();
	umask(077);
	rc = use_no_terminal(log);
	if (!rc)
		rc = keep_alone(all, count + 1);
	/* The working directory must not prevent a file system from being unmounted. */
	if (!rc && chdir("/"))
		rc = -errno;
	setenv("PWD", "/", 1);
	unsetenv("OLDPWD");
	if (rc == -EMFILE)
		return error_set(
		        err, -rc,
		        "the process in the background needs more open files than the limit "
		        "allows; raise it to %d or more by 'ulimit -n'",
		        2 * KEPT_FROM);
	return rc ? error_set(err, -rc, "the process in the background: %s", strerror(-rc)) : 0;
}

int daemon_ready(struct daemon *d, const struct buf *text)
{
	int rc;

	if (d->ready < 0)
		return 0;
	rc = write_all(d->ready, buf_text(text), text->size);
	close(d->ready);
	d->ready = -1;
	return rc;
}

static int died(const struct daemon *d, struct error *err)
{
	int status = 0;

	waitpid(d->pid, &status, 0);
	if (WIFSIGNALED(status))
		return error_set(err, ECHILD,
		                 "the recording process was killed before it started to sample: %s",
		                 strsignal(WTERMSIG(status)));
	return error_set(err, ECHILD,
	                 "the recording process exited before it started to sample (status %d)",
	                 WEXITSTATUS(status));
}

int daemon_wait(struct daemon *d, struct buf *text, struct error *err)
{
	char piece[4096];
	ssize_t n;

	while (text->size <= TEXT_MAX) {
		n = read(d->ready, piece, sizeof(piece));
		if (n > 0)
			buf_add(text, piece, (size_t)n);
		else if (!n || errno != EINTR)
			break;
	}
	close(d->ready);
	d->ready = -1;
	return text->size ? 0 : died(d, err);
}
