/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_thread: a function that runs in parallel with the caller, if a CPU is available.
 *
 *	if (!helper_thread_start(&a, fn, arg))
 *		fn(arg);
 *	... work that does not touch the same data ...
 *	helper_thread_join(&a);
 *
 * A zeroed struct is valid and not running. The thread blocks signals, so the other threads get
 * them. The caller may read data of fn after helper_thread_join(). Uses: nothing.
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

/* False: fn does not run, because there is one CPU only or no thread could be created. */
bool helper_thread_start(struct helper_thread *a, void (*fn)(void *arg), void *arg);
/* Waits until fn returns; does nothing if it does not run. */
void helper_thread_join(struct helper_thread *a);

#endif
