/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aside: a function that runs beside the caller, where there is a CPU for it.
 *
 *	if (!aside_start(&a, fn, arg))
 *		fn(arg);
 *	... what does not touch the same data ...
 *	aside_join(&a);
 *
 * Zeroed is not running. Signals stay with the threads that expect them. What
 * fn writes may be read after aside_join(). Uses: nothing.
 */
#ifndef ASSAY_BASE_PROCESS_ASIDE_H
#define ASSAY_BASE_PROCESS_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

struct aside {
	pthread_t thread;
	bool running;
	void (*fn)(void *arg);
	void *arg;
};

/* False: it does not run, for there is one CPU alone or no thread to be had. */
bool aside_start(struct aside *a, void (*fn)(void *arg), void *arg);
/* Waits for its end; nothing where it does not run. */
void aside_join(struct aside *a);

#endif
