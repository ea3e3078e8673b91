/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_thread: a function that runs beside the caller, where there is a CPU for it.
 *
 *	if (!helper_thread_start(&a, fn, arg))
 *		fn(arg);
 *	... what does not touch the same data ...
 *	helper_thread_join(&a);
 *
 * Zeroed is not running. Signals stay with the threads that expect them. What
 * fn writes may be read after helper_thread_join(). Uses: nothing.
 */
#ifndef ASSAY_BASE_PROCESS_HELPER_THREAD_H
#define ASSAY_BASE_PROCESS_HELPER_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct helper_thread {
	pthread_t thread;
	bool running;
	void (*fn)(void *arg);
	void *arg;
};

/* False: it does not run, for there is one CPU alone or no thread to be had. */
bool helper_thread_start(struct helper_thread *a, void (*fn)(void *arg), void *arg);
/* Waits for its end; nothing where it does not run. */
void helper_thread_join(struct helper_thread *a);

#endif
