/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits: a program that waits in three known ways and computes in a fourth.
 *
 * wait_sleep() sleeps, wait_pipe() blocks on a pipe that a child writes to
 * later, wait_spin() computes alone, wait_contend() computes against a child
 * on the same CPU, so that about half of its time it is runnable only.
 * Usage: waits [UNIT_MS]. Prints as JSON the wall and CPU time of each part in ns, by its own
 * clocks.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct part {
	uint64_t wall_ns, cpu_ns;
};

struct part wait_sleep(uint64_t ns);
struct part wait_pipe(uint64_t ns);
struct part wait_spin(uint64_t ns);
struct part wait_contend(uint64_t ns);

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct part part_begin(void)
{
	struct part p = {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID)};

	return p;
}

static struct part part_end(struct part begin)
{
	struct part p = {clock_ns(CLOCK_MONOTONIC) - begin.wall_ns,
	                 clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin.cpu_ns};

	return p;
}

/*
 * A C library without frame pointers hides the function that called into it:
 * this one and pipe_read() stand between, so that their callers are seen.
 */
__attribute__((noinline)) static void sleep_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	nanosleep(&t, NULL);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static bool pipe_read(int fd)
{
	char c;
	bool got = read(fd, &c, 1) == 1;

	__asm__ volatile("" : "+r"(got));
	return got;
}

static void spin_until(uint64_t end_ns)
{
	uint64_t x = 1;

	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		for (int i = 0; i < 10000; i++) {
			x = x * 6364136223846793005u + 1;
			__asm__ volatile("" : "+r"(x));
		}
	}
}

__attribute__((noinline)) struct part wait_sleep(uint64_t ns)
{
	struct part begin = part_begin();

	sleep_ns(ns);
	return part_end(begin);
}

__attribute__((noinline)) struct part wait_pipe(uint64_t ns)
{
	struct part begin, end;
	int ends[2];
	pid_t child;

	if (pipe(ends) || (child = fork()) < 0)
		exit(1);
	if (!child) {
		sleep_ns(ns);
		_exit(write(ends[1], "", 1) != 1);
	}
	begin = part_begin();
	if (!pipe_read(ends[0]))
		exit(1);
	end = part_end(begin);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	return end;
}

__attribute__((noinline)) struct part wait_spin(uint64_t ns)
{
	struct part begin = part_begin();

	spin_until(clock_ns(CLOCK_MONOTONIC) + ns);
	return part_end(begin);
}

__attribute__((noinline)) struct part wait_contend(uint64_t ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + ns;
	struct part begin, end;
	cpu_set_t one;
	pid_t child;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	child = fork();
	if (child < 0)
		exit(1);
	if (!child) {
		spin_until(end_ns);
		_exit(0);
	}
	begin = part_begin();
	spin_until(end_ns);
	end = part_end(begin);
	waitpid(child, NULL, 0);
	return end;
}

static void part_print(const char *name, struct part p, const char *after)
{
	printf("\"%s\": {\"wall_ns\": %llu, \"cpu_ns\": %llu}%s", name,
	       (unsigned long long)p.wall_ns, (unsigned long long)p.cpu_ns, after);
}

int main(int argc, char **argv)
{
	uint64_t unit = (argc > 1 ? strtoull(argv[1], NULL, 10) : 200) * 1000000;
	struct part all = part_begin();
	struct part sleeping = wait_sleep(2 * unit);
	struct part blocked = wait_pipe(unit);
	struct part spinning = wait_spin(unit);
	struct part contending = wait_contend(2 * unit);

	all = part_end(all);
	printf("{\"pid\": %d, ", (int)getpid());
	part_print("wait_sleep", sleeping, ", ");
	part_print("wait_pipe", blocked, ", ");
	part_print("wait_spin", spinning, ", ");
	part_print("wait_contend", contending, ", ");
	part_print("all", all, "}\n");
	return 0;
}
