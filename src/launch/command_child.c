/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/command_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void child(int go, int failure, char **argv, char **environment,
                            const sigset_t *mask)
{
	char byte;
	int code;

	/* No byte: the parent exited or gave up before the start. */
	if (read(go, &byte, 1) != 1)
		_exit(127);
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGXFSZ, SIG_DFL);
	execvpe(argv[0], argv, environment ? environment : environ);
	code = errno;
	if (write(failure, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(code == ENOENT ? 127 : 126);
}

int command_child_fork(struct command_child *c, char **argv, const sigset_t *mask,
                       struct error *err)
{
	return command_child_fork_in(c, argv, NULL, mask, err);
}

int command_child_fork_in(struct command_child *c, char **argv, char **environment,
                          const sigset_t *mask, struct error *err)
{
	int go[2], failure[2];

	*c = (struct command_child){.go = -1, .failure = -1};
	if (pipe2(go, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", strerror(errno));
	if (pipe2(failure, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error_set(err, errno, "pipe: %s", strerror(errno));
	}
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		close(failure[0]);
		child(go[0], failure[1], argv, environment, mask);
	}
	close(go[0]);
	close(failure[1]);
	c->go = go[1];
	c->failure = failure[0];
	if (c->pid < 0) {
		c->pid = 0;
		close(c->go);
		close(c->failure);
		return error_set(err, errno, "fork: %s", strerror(errno));
	}
	return 0;
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void ended(struct command_child *c, const struct rusage *r)
{
	c->ended = true;
	c->usage = (struct command_usage){
	        .wall_ns = monotonic_ns() - c->start_ns,
	        .user_ns = time_ns(r->ru_utime),
	        .system_ns = time_ns(r->ru_stime),
	        .rss_bytes = (uint64_t)r->ru_maxrss * 1024,
	        .minor_faults = (uint64_t)r->ru_minflt,
	        .major_faults = (uint64_t)r->ru_majflt,
	        .voluntary_switches = (uint64_t)r->ru_nvcsw,
	        .involuntary_switches = (uint64_t)r->ru_nivcsw,
	};
}

int command_child_start(struct command_child *c, const char *name, struct error *err)
{
	int code = 0;
	ssize_t n;

	c->start_ns = monotonic_ns();
	if (write(c->go, "", 1) != 1)
		return error_set(err, errno, "%s: cannot be started: %s", name, strerror(errno));
	close(c->go);
	c->go = -1;
	do
		n = read(c->failure, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(c->failure);
	c->failure = -1;
	if (n == sizeof(code))
		return error_set(err, code, "%s: cannot be run: %s", name, strerror(code));
	return 0;
}

bool command_child_ended(struct command_child *c)
{
	struct rusage used;

	if (c->pid && !c->ended && wait4(c->pid, &c->status, WNOHANG, &used) == c->pid)
		ended(c, &used);
	return c->ended;
}

bool command_child_end(struct command_child *c)
{
	struct timespec pause = {.tv_nsec = 10000000};

	if (!c->pid)
		return true;
	if (c->go >= 0)
		close(c->go);
	if (c->failure >= 0)
		close(c->failure);
	c->go = c->failure = -1;
	if (!command_child_ended(c))
		kill(c->pid, SIGTERM);
	for (int i = 0; i < 200 && !command_child_ended(c); i++)
		nanosleep(&pause, NULL);
	return c->ended;
}

int command_signals_hold(sigset_t *before, struct error *err)
{
	sigset_t held;
	int signals;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGQUIT);
	sigaddset(&held, SIGCHLD);
	/*
	 * The parent process may have set SIGCHLD to be ignored; the end of the command would then
	 * not be reported.
	 */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &held, before);
	signals = signalfd(-1, &held, SFD_CLOEXEC);
	return signals < 0 ? error_set(err, errno, "signalfd: %s", strerror(errno)) : signals;
}

void command_signals_release(int signals, const sigset_t *before)
{
	struct pollfd more = {.fd = signals, .events = POLLIN};
	struct signalfd_siginfo info;

	while (signals >= 0 && poll(&more, 1, 0) > 0 && read(signals, &info, sizeof(info)) > 0)
		;
	if (signals >= 0)
		close(signals);
	sigprocmask(SIG_SETMASK, before, NULL);
}
