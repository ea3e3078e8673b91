/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * times: measures the CPU time and waiting time of its functions by the thread's CPU clock and the
 * wall clock, and prints them as JSON.
 *
 *	times sleepy            sleepy() sleeps 900 ms and works 100 ms
 *	times naps N            naps() sleeps N times, shortly, between two hooks
 *	times rival SECONDS     rival() works for so long; says what the scheduler says it waited
 *	times count FILE        calls counted() for ever; FILE's first 8 bytes are how often,
 *	                        the next 8 its pid
 *	times read              calls counted() 1000 times, says "ready", then blocks in read(2);
 *	                        each byte that comes: 10 times more
 *	times steps N           N functions' calls of about 1 ms each, by four threads
 */
#include "truth.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

static volatile uint64_t sink;

UNSEEN static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

UNSEEN static void work_for(uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		sink++;
}

UNSEEN static void sleep_for(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	nanosleep(&t, NULL);
}

struct measured {
	uint64_t wall_ns, cpu_ns;
};

UNSEEN static struct measured begin(void)
{
	return (struct measured){clock_ns(CLOCK_MONOTONIC_RAW), clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

static struct measured said;
static uint64_t said_waited_ns;

/* The result is printed by the caller: its reader may use the CPU at once. */
UNSEEN static void end(struct measured m, uint64_t waited_ns)
{
	said.wall_ns = clock_ns(CLOCK_MONOTONIC_RAW) - m.wall_ns;
	said.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - m.cpu_ns;
	said_waited_ns = waited_ns;
}

UNSEEN static void say(void)
{
	printf("{\"pid\": %d, \"wall_ns\": %llu, \"cpu_ns\": %llu, \"run_delay_ns\": %llu}\n",
	       (int)getpid(), (unsigned long long)said.wall_ns, (unsigned long long)said.cpu_ns,
	       (unsigned long long)said_waited_ns);
	fflush(stdout);
}

/* Ready and not running, as the scheduler counts it. */
UNSEEN static uint64_t run_delay_ns(void)
{
	unsigned long long ran = 0, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2)
		_exit(121);
	fclose(f);
	return waited;
}

static APART void sleepy(void)
{
	struct measured m = begin();

	for (int i = 0; i < 10; i++) {
		sleep_for(90000000);
		work_for(10000000);
	}
	end(m, 0);
}

static APART void naps(unsigned n)
{
	struct measured m = begin();

	for (unsigned i = 0; i < n; i++)
		sleep_for(1000);
	end(m, 0);
}

static APART void rival(double seconds)
{
	struct measured m = begin();
	uint64_t until = m.wall_ns + (uint64_t)(seconds * 1e9), waited = run_delay_ns();

	while (clock_ns(CLOCK_MONOTONIC_RAW) < until)
		for (int i = 0; i < 1000; i++)
			sink++;
	end(m, run_delay_ns() - waited);
}

static APART void counted(void)
{
	sink++;
}

static APART void count(const char *file)
{
	int fd = open(file, O_RDWR | O_CLOEXEC);
	volatile uint64_t *shared;

	if (fd < 0)
		_exit(121);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		_exit(121);
	shared[1] = (uint64_t)getpid();
	for (uint64_t n = 1;; n++) {
		counted();
		*shared = n;
	}
}

static APART void blocked(void)
{
	char c;

	for (int i = 0; i < 1000; i++)
		counted();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) == 1) {
		for (int i = 0; i < 10; i++)
			counted();
		printf("done\n");
		fflush(stdout);
	}
}

static APART void small_step(void)
{
	for (int i = 0; i < 3000; i++)
		sink++;
}

static APART void step(unsigned n)
{
	for (int i = 0; i < 100; i++)
		small_step();
	if (n % 3 == 0)
		sleep_for(200000);
}

static void *stepping(void *argument)
{
	unsigned n = (unsigned)(unsigned long)argument;

	for (unsigned i = 0; i < n; i++)
		step(i);
	return NULL;
}

static APART void steps(unsigned long n)
{
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, stepping, (void *)n))
			_exit(121);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *value = argc > 2 ? argv[2] : "0";

	if (!strcmp(what, "sleepy"))
		sleepy();
	else if (!strcmp(what, "naps"))
		naps((unsigned)strtoul(value, NULL, 10));
	else if (!strcmp(what, "rival"))
		rival(strtod(value, NULL));
	else if (!strcmp(what, "count"))
		count(value);
	else if (!strcmp(what, "read"))
		blocked();
	else if (!strcmp(what, "steps"))
		steps(strtoul(value, NULL, 10));
	else
		truth_usage(what);
	if (said.wall_ns)
		say();
	return 0;
}
