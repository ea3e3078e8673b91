/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that makes known system calls, one kind after the other:
 *
 *	kernel_truth WHAT COUNT [WHAT COUNT]...
 *
 * getppid: COUNT calls. unlink: of a file that is not there. sleep: COUNT of
 * 10 ms. fork: 3 children, one after the other, each with COUNT getppid.
 * threads: 4 at once, likewise. pipe: COUNT bytes, which a child writes, each after 10 ms. The
 * start of the program makes none of these calls. At the end each process writes to stderr how many
 * of its sleeps and of its reads left the CPU, as the kernel counts them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long count;
static long left_asleep, left_reading; /* voluntary context switches of this process */

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

static long voluntary_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void print_switches(void)
{
	if (left_asleep)
		dprintf(2, "left the CPU: sleep %ld\n", left_asleep);
	if (left_reading)
		dprintf(2, "left the CPU: pipe %ld\n", left_reading);
}

static void sleep_10_ms(void)
{
	struct timespec ten_ms = {.tv_nsec = 10000000};
	long before = voluntary_switches();

	nanosleep(&ten_ms, NULL);
	left_asleep += voluntary_switches() - before;
}

static __attribute__((noinline)) void write_slowly(int to)
{
	for (long i = 0; i < count; i++) {
		sleep_10_ms();
		if (write(to, "x", 1) != 1)
			_exit(1);
	}
}

static void read_bytes(int from)
{
	char byte;

	for (long i = 0; i < count; i++) {
		long before = voluntary_switches();
		ssize_t got = read(from, &byte, 1);

		left_reading += voluntary_switches() - before;
		if (got != 1)
			break;
	}
}

static void read_pipe(void)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return;
	pid = fork();
	if (!pid) {
		left_asleep = 0;
		write_slowly(ends[1]);
		print_switches();
		_exit(0);
	}
	read_bytes(ends[0]);
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
	print_switches();
	return 0;
}
