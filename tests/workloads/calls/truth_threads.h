/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth_threads: several threads of one function, begun at once and waited for.
 *
 * It counts nothing and is not counted: what calls it is the threads' creator.
 * A thread that cannot be made ends the program with status 121. Any thread.
 * Uses: nothing of ours but truth.h.
 */
#ifndef TRUTH_THREADS_H
#define TRUTH_THREADS_H

#include "truth.h"

#include <pthread.h>

#define TRUTH_THREADS 8 /* at most */

UNSEEN static void truth_threads(void *(*body)(void *), unsigned count)
{
	pthread_t thread[TRUTH_THREADS];

	for (unsigned i = 0; i < count; i++)
		if (i == TRUTH_THREADS || pthread_create(&thread[i], NULL, body, NULL))
			_exit(121);
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

#endif
