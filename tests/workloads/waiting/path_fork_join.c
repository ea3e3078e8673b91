/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_fork_join: the main thread prepares, starts three workers, waits for them, and merges. Two
 * workers wait for half of the time of the third one, which computes.
 */
#include "path.h"

COMPUTES(prepare, 40)
COMPUTES(slow_part, 200)
COMPUTES(merge, 60)

static void *slow(void *unused)
{
	truth_name("slow");
	STEP(slow_part);
	return unused;
}

static void *fast(void *unused)
{
	truth_name("fast");
	truth_sleep(100 * MS);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	path_begin("path_fork_join", argc, argv);
	STEP(prepare);
	threads[0] = truth_start(fast, NULL);
	threads[1] = truth_start(slow, NULL);
	threads[2] = truth_start(fast, NULL);
	for (int i = 0; i < 3; i++)
		truth_join(threads[i]);
	STEP(merge);
	truth_end();
	return 0;
}
