/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that makes known system calls:
 *
 *	kernel_truth WHAT COUNT [REPEATS]
 *
 * getppid: COUNT calls. close: of no file. open: of a file that is not there.
 * sleep: COUNT of 10 ms. spin: COUNT ms of its own. fork: REPEATS children, one
 * after the other, each with COUNT getppid. threads: REPEATS at once, likewise.
 */
#include <errno.h>
#include <fcntl.h>
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

static void repeat(const char *what)
{
	struct timespec ten_ms = {.tv_nsec = 10000000};

	for (long i = 0; i < count; i++) {
		if (!strcmp(what, "close"))
			syscall(SYS_close, -1);
		else if (!strcmp(what, "open"))
			syscall(SYS_openat, AT_FDCWD, "/not/there", O_RDONLY);
		else if (!strcmp(what, "sleep"))
			nanosleep(&ten_ms, NULL);
	}
}

static void spin(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
	       count);
}

static void several(const char *what, int repeats)
{
	pthread_t threads[16];
	int made = 0;

	for (int i = 0; i < repeats && i < 16; i++) {
		if (!strcmp(what, "fork")) {
			pid_t pid = fork();

			if (!pid) {
				getppids(NULL);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		} else if (!pthread_create(&threads[made], NULL, getppids, NULL)) {
			made++;
		}
	}
	while (made)
		pthread_join(threads[--made], NULL);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	count = atol(argv[2]);
	if (!strcmp(argv[1], "getppid"))
		getppids(NULL);
	else if (!strcmp(argv[1], "spin"))
		spin();
	else if (argc > 3)
		several(argv[1], atoi(argv[3]));
	else
		repeat(argv[1]);
	return 0;
}
