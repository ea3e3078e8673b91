/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth_threads: starts several threads of one function at the same time, and waits for them. Its
 * functions are not counted: the threads' creator is the calling function. If a thread cannot be
 * created, the program ends with status 121. Any thread. Uses: truth.h.
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
