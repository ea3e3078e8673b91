/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that makes known system calls, one kind after the other:
 *
 *	kernel_truth WHAT COUNT [WHAT COUNT]...
 *
 * getppid: COUNT calls. unlink: of a file that is not there. sleep: COUNT of
 * 10 ms. fork: 3 children, one after the other, each with COUNT getppid.
 * threads: 4 at once, likewise. pipe: COUNT bytes, which a child writes, each after 10 ms. The
 *start of the program makes none of these calls.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long count;

static void *getppids(void *ignored)
{
	(void)ignored;
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void fork_children(void)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			getppids(NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void run_threads(void)
{
	pthread_t threads[4];
	int made = 0;

	while (made < 4 && !pthread_create(&threads[made], NULL, getppids, NULL))
		made++;
	while (made)
		pthread_join(threads[--made], NULL);
}

static void sleep_10_ms(void)
{
	struct timespec ten_ms = {.tv_nsec = 10000000};

	nanosleep(&ten_ms, NULL);
}

static __attribute__((noinline)) void write_slowly(int to)
{
	for (long i = 0; i < count; i++) {
		sleep_10_ms();
		if (write(to, "x", 1) != 1)
			_exit(1);
	}
}

static void read_pipe(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		return;
	pid = fork();
	if (!pid) {
		write_slowly(ends[1]);
		_exit(0);
	}
	for (long i = 0; i < count; i++)
		if (read(ends[0], &byte, 1) != 1)
			break;
	waitpid(pid, NULL, 0);
}

static void do_one(const char *what)
{
	if (!strcmp(what, "getppid"))
		getppids(NULL);
	else if (!strcmp(what, "fork"))
		fork_children();
	else if (!strcmp(what, "threads"))
		run_threads();
	else if (!strcmp(what, "pipe"))
		read_pipe();
	for (long i = 0; i < count; i++) {
		if (!strcmp(what, "unlink"))
			unlink("/not/there");
		else if (!strcmp(what, "sleep"))
			sleep_10_ms();
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		count = atol(argv[i + 1]);
		do_one(argv[i]);
	}
	return 0;
}
