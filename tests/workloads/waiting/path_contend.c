/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_contend: two threads compute on one CPU. The critical path is that of `long`, which ends
 * last; its time as runnable thread is part of it.
 */
#include "path.h"

#include <sched.h>

COMPUTES(long_work, 200)
COMPUTES(short_work, 100)

static void *run_long(void *unused)
{
	truth_name("long");
	STEP(long_work);
	return unused;
}

static void *run_short(void *unused)
{
	truth_name("short");
	short_work();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	cpu_set_t one;

	path_begin("path_contend", argc, argv);
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	must(sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
	threads[0] = truth_start(run_short, NULL);
	threads[1] = truth_start(run_long, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
