/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch_pairs: a load of context switches and wake-ups that no CPU has time left beside.
 *
 * On each CPU two processes pass a byte to and fro, over pipes: a round trip is two switches and
 * two wake-ups. Between two bytes each process computes for WORK rounds of a generator of random
 * numbers, about a nanosecond each. Usage: switch_pairs TRIPS WORK. Prints the seconds
 * of CPU time that all processes used, and the elapsed seconds.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t result;

static void work(long rounds)
{
	uint64_t x = 88172645463325252u;

	for (long i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	result = x;
}

static void pass(int from, int to, long trips, long rounds)
{
	char byte = 0;

	for (long i = 0; i < trips; i++) {
		if (read(from, &byte, 1) != 1)
			_exit(1);
		work(rounds);
		if (write(to, &byte, 1) != 1)
			_exit(1);
	}
}

static void pair(int cpu, long trips, long rounds)
{
	int there[2], back[2];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) || pipe(there) || pipe(back) ||
	    write(there[1], "", 1) != 1)
		_exit(1);
	if (!fork()) {
		pass(there[0], back[1], trips, rounds);
		_exit(0);
	}
	pass(back[0], there[1], trips, rounds);
	wait(NULL);
	_exit(0);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), trips = argc > 1 ? atol(argv[1]) : 0;
	struct timespec begin, end;
	struct rusage used;
	int status, failed = 0;

	if (trips <= 0) {
		fprintf(stderr, "usage: switch_pairs TRIPS WORK\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int cpu = 0; cpu < cpus; cpu++)
		if (!fork())
			pair(cpu, trips, argc > 2 ? atol(argv[2]) : 0);
	while (wait(&status) > 0)
		failed |= status;
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%.6f %.6f\n", seconds(used.ru_utime) + seconds(used.ru_stime),
	       (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return failed != 0;
}
