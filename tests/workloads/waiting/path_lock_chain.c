/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_lock_chain: `first` waits for a lock of `second`, which waits for a lock of `third`, which
 * computes. Each computes after it has its lock, before it releases its own.
 */
#include "path.h"

static pthread_mutex_t upper_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lower_lock = PTHREAD_MUTEX_INITIALIZER;

COMPUTES(use_both, 50)
COMPUTES(use_lower, 90)
COMPUTES(fill_lower, 140)

static void *third(void *unused)
{
	truth_name("third");
	pthread_mutex_lock(&lower_lock);
	STEP(fill_lower);
	pthread_mutex_unlock(&lower_lock);
	return unused;
}

static void *second(void *unused)
{
	truth_name("second");
	truth_sleep(10 * MS);
	pthread_mutex_lock(&upper_lock);
	pthread_mutex_lock(&lower_lock);
	STEP(use_lower);
	pthread_mutex_unlock(&lower_lock);
	pthread_mutex_unlock(&upper_lock);
	return unused;
}

static void *first(void *unused)
{
	truth_name("first");
	truth_sleep(30 * MS);
	pthread_mutex_lock(&upper_lock);
	STEP(use_both);
	pthread_mutex_unlock(&upper_lock);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	path_begin("path_lock_chain", argc, argv);
	threads[0] = truth_start(third, NULL);
	threads[1] = truth_start(second, NULL);
	threads[2] = truth_start(first, NULL);
	for (int i = 0; i < 3; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
