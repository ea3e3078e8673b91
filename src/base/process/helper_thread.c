/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process/helper_thread.h"

#include <sched.h>
#include <signal.h>

static bool have_two_cpus(void)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1;
}

static void *run(void *arg)
{
	struct helper_thread *a = arg;

	a->fn(a->arg);
	return NULL;
}

bool helper_thread_start(struct helper_thread *a, void (*fn)(void *arg), void *arg)
{
	sigset_t all, before;

	*a = (struct helper_thread){.fn = fn, .arg = arg};
	if (!have_two_cpus())
		return false;
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* file_map.h */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	a->running = !pthread_create(&a->thread, NULL, run, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return a->running;
}

void helper_thread_join(struct helper_thread *a)
{
	if (a->running)
		pthread_join(a->thread, NULL);
	a->running = false;
}
