/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * short_processes: starts processes at a fixed rate. Each is forked, executed with its libraries
 * mapped, and exits after a fraction of a millisecond, as in a build.
 *
 *	short_processes RATE SECONDS
 *
 * Starts each process when it is due, if the machine is fast enough; at its end it prints how many
 * per second there were.
 */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (256 << 10)

extern char **environ;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A private mapping that is written to. */
static int work(void)
{
	char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return 1;
	for (int i = 0; i < 4; i++)
		memset(block, i, BLOCK / 4);
	return block[0] == 3 ? 0 : 1;
}

static int spawn_one(char *self)
{
	char *const argv[] = {self, "work", NULL};
	pid_t pid;
	int status;

	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		return 1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int main(int argc, char **argv)
{
	double rate = argc > 2 ? strtod(argv[1], NULL) : 0;
	uint64_t begin = now_ns(), end, due = begin, count = 0;

	if (argc == 2 && !strcmp(argv[1], "work"))
		return work();
	if (rate <= 0) {
		fprintf(stderr, "usage: short_processes RATE SECONDS\n");
		return 2;
	}
	end = begin + (uint64_t)(strtod(argv[2], NULL) * 1e9);
	while (now_ns() < end) {
		struct timespec at = {.tv_sec = (time_t)(due / 1000000000),
		                      .tv_nsec = (long)(due % 1000000000)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		if (spawn_one("/proc/self/exe"))
			return 1;
		count++;
		due += (uint64_t)(1e9 / rate);
		if (due + 100000000 < now_ns())
			due = now_ns();
	}
	printf("%.0f\n", (double)count * 1e9 / (double)(now_ns() - begin));
	return 0;
}
