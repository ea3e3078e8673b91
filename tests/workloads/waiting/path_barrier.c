/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path_barrier: three threads meet at a barrier in each round; the straggler decides the time. */
#include "path.h"

#define ROUNDS 30

static pthread_barrier_t meeting;

COMPUTES(straggle, 8)

static void *straggler(void *unused)
{
	truth_name("straggler");
	for (int i = 0; i < ROUNDS; i++) {
		STEP(straggle);
		pthread_barrier_wait(&meeting);
	}
	return unused;
}

static void *punctual(void *unused)
{
	truth_name("punctual");
	for (int i = 0; i < ROUNDS; i++) {
		truth_sleep(2 * MS);
		pthread_barrier_wait(&meeting);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	path_begin("path_barrier", argc, argv);
	pthread_barrier_init(&meeting, NULL, 3);
	threads[0] = truth_start(punctual, NULL);
	threads[1] = truth_start(straggler, NULL);
	threads[2] = truth_start(punctual, NULL);
	for (int i = 0; i < 3; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
