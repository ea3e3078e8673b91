/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile: programs that remove resources which a runtime may need, and then call new functions in
 * new threads and children. Usage: hostile CASE
 *
 *	close     closes all descriptors but stderr
 *	reused    and opens others in their place
 *	move      changes to the root directory
 *	user      becomes another user, where it may
 *	nofile    may open no more files
 *	fsize     may write no more than 64 KB to a file; then 11110 new paths
 *	masked    all signals blocked
 *	cleared   clears its environment before its first thread
 *	errno     errno stays as it was over calls
 *	vectors   floating-point and vector registers stay as they were
 */
#include "truth.h"
#include "walkers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static volatile unsigned long sink;

static APART void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

static APART void fresh(unsigned n)
{
	CALLED();
	for (unsigned i = 0; i < n; i++)
		leaf(i);
}

static void *body(void *argument)
{
	CALLED();
	fresh(100);
	return argument;
}

/* A child must work even if it cannot have its own table. */
static int child_tells = 1;

/* A thread and a child, both new, and functions that were not called before. */
static APART void go_on(void)
{
	pthread_t thread;
	pid_t pid;

	CALLED();
	fresh(10);
	for (unsigned i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, body, NULL))
			_exit(121);
		pthread_join(thread, NULL);
	}
	leaf(2);
	pid = fork();
	if (pid == 0) {
		truth_forked();
		fresh(3);
		if (child_tells)
			truth_tell();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	leaf(1);
}

UNSEEN static void close_all(void)
{
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	close(0);
	close(1);
}

static void by_close(void)
{
	CALLED();
	close_all();
	go_on();
}

static void reused(void)
{
	CALLED();
	close_all();
	for (unsigned i = 0; i < 20; i++)
		sink += (unsigned long)open("/dev/null", O_RDWR);
	go_on();
}

static void move(void)
{
	CALLED();
	sink += (unsigned long)chdir("/");
	go_on();
}

static void user(void)
{
	CALLED();
	child_tells = 0;
	sink += (unsigned long)setresuid(65534, 65534, 0);
	go_on();
	sink += (unsigned long)seteuid(0);
}

UNSEEN static void limit(int what, rlim_t most)
{
	struct rlimit l;

	getrlimit(what, &l);
	l.rlim_cur = most;
	setrlimit(what, &l);
}

/* The descriptor to which the counts are written must be available at the end. */
static void nofile(void)
{
	struct rlimit before;

	CALLED();
	child_tells = 0;
	getrlimit(RLIMIT_NOFILE, &before);
	limit(RLIMIT_NOFILE, 0);
	go_on();
	limit(RLIMIT_NOFILE, before.rlim_cur);
}

static void fsize(void)
{
	CALLED();
	limit(RLIMIT_FSIZE, 64 << 10);
	onward(4);
	limit(RLIMIT_FSIZE, RLIM_INFINITY);
}

static void masked(void)
{
	sigset_t all;

	CALLED();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	go_on();
}

static void cleared(void)
{
	CALLED();
	clearenv();
	go_on();
}

static APART int keeps_errno(int value)
{
	CALLED();
	return errno == value;
}

UNSEEN static void *errno_body(void *argument)
{
	/* errno is set before its very first call. */
	errno = 77;
	if (!keeps_errno(77) || errno != 77) {
		dprintf(2, "truth: errno changed in a thread\n");
		_exit(122);
	}
	return argument;
}

static void by_errno(void)
{
	pthread_t thread;

	CALLED();
	for (int i = 0; i < 100; i++) {
		errno = i;
		if (!keeps_errno(i) || errno != i) {
			dprintf(2, "truth: errno %d changed\n", i);
			_exit(122);
		}
	}
	for (int i = 0; i < 5; i++) {
		if (pthread_create(&thread, NULL, errno_body, NULL))
			_exit(121);
		pthread_join(thread, NULL);
	}
}

static APART double many(double a, double b, double c, double d, double e, double f, double g,
                         double h, float i, int j, long k)
{
	CALLED();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j +
	       11 * (double)k;
}

UNSEEN static void *vector_body(void *argument)
{
	if (many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) != 506) {
		dprintf(2, "truth: arguments changed\n");
		_exit(122);
	}
	return argument;
}

static void vectors(void)
{
	pthread_t thread;

	CALLED();
	for (int i = 0; i < 100; i++)
		vector_body(NULL);
	for (int i = 0; i < 5; i++) {
		if (pthread_create(&thread, NULL, vector_body, NULL))
			_exit(121);
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"close", by_close}, {"reused", reused},   {"move", move},     {"user", user},
	        {"nofile", nofile},  {"fsize", fsize},     {"masked", masked}, {"cleared", cleared},
	        {"errno", by_errno}, {"vectors", vectors}, {NULL, NULL},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
