/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu: two threads compute on one CPU for 500 ms each, so that one of them is runnable while the
 * other one runs. The time that a thread was runnable is the kernel's (schedstat).
 */
#include "truth.h"

#include <sched.h>

static uint64_t runnable_ns(void)
{
	unsigned long long run = 0, runnable = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	must(!f || fscanf(f, "%llu %llu", &run, &runnable) != 2 || fclose(f), "schedstat");
	return runnable;
}

static APART void compute_table(void)
{
	truth_compute(500 * MS);
}

static void *rival(void *argument)
{
	struct truth_mark from, to;
	uint64_t before_ns;

	truth_name(argument);
	truth_sleep(5 * MS);
	before_ns = runnable_ns();
	from = to = truth_mark();
	compute_table();
	to.preempted = truth_mark().preempted;
	to.time_ns = from.time_ns + runnable_ns() - before_ns;
	truth_add(from, to, (struct truth_cause){"cpu", NULL, NULL, NULL, NULL});
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	cpu_set_t one;

	truth_begin("cpu");
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	must(sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
	threads[0] = truth_start(rival, "rival-0");
	threads[1] = truth_start(rival, "rival-1");
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
