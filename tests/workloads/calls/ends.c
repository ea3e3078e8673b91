/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ends: programs and threads that end while calls are open. Usage: ends CASE
 *
 *	exit      from 20 deep, with handlers of atexit that call
 *	at_once   _exit from 20 deep
 *	quick     quick_exit with its handlers
 *	abort     SIGABRT
 *	crash     SIGSEGV, 20 deep
 *	killed    SIGKILL by itself
 *	thread    pthread_exit from 20 deep
 *	cancel    threads cancelled while they sleep, 20 deep
 *	doomed    threads that are cancelled before their first call, and their children
 *	main_ends the first thread ends by pthread_exit, others go on
 *	others    exit while three threads sleep in calls
 */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#pragma GCC diagnostic ignored "-Winfinite-recursion"

static volatile unsigned long sink;

static APART void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

typedef void ending(void);

static APART void down(unsigned depth, ending *end)
{
	CALLED();
	leaf(depth);
	if (depth)
		down(depth - 1, end);
	else
		end();
	sink++;
}

static APART void at_end(void)
{
	CALLED();
	leaf(3);
}

static APART __attribute__((noreturn)) void end_exit(void)
{
	CALLED();
	exit(3);
}

static void by_exit(void)
{
	CALLED();
	atexit(at_end);
	atexit(at_end);
	down(20, end_exit);
}

static APART __attribute__((noreturn)) void end_at_once(void)
{
	CALLED();
	truth_tell();
	_exit(3);
}

static void at_once(void)
{
	CALLED();
	down(20, end_at_once);
}

static APART void at_quick_end(void)
{
	CALLED();
	leaf(4);
	truth_tell();
}

static APART __attribute__((noreturn)) void end_quick(void)
{
	CALLED();
	quick_exit(3);
}

static void quick(void)
{
	CALLED();
	at_quick_exit(at_quick_end);
	down(20, end_quick);
}

static APART __attribute__((noreturn)) void end_abort(void)
{
	CALLED();
	truth_tell();
	abort();
}

static void by_abort(void)
{
	CALLED();
	down(20, end_abort);
}

static int *volatile nowhere;

static APART void end_crash(void)
{
	CALLED();
	truth_tell();
	*nowhere = 1;
}

static void crash(void)
{
	CALLED();
	down(20, end_crash);
}

static APART void end_killed(void)
{
	CALLED();
	truth_tell();
	raise(SIGKILL);
}

static void killed(void)
{
	CALLED();
	down(20, end_killed);
}

static APART __attribute__((noreturn)) void end_thread(void)
{
	CALLED();
	pthread_exit(NULL);
}

static void *ending_body(void *argument)
{
	CALLED();
	leaf(1);
	down((unsigned)(unsigned long)argument, end_thread);
	return NULL;
}

static void thread(void)
{
	pthread_t t;

	CALLED();
	for (unsigned long i = 0; i < 40; i++) {
		if (pthread_create(&t, NULL, ending_body, (void *)(i % 21)))
			_exit(121);
		pthread_join(t, NULL);
		leaf(1);
	}
}

static unsigned asleep;

static APART void end_sleep(void)
{
	CALLED();
	__atomic_fetch_add(&asleep, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static void cleanup(void *argument)
{
	CALLED();
	leaf(argument != NULL);
}

static void *sleeping_body(void *argument)
{
	CALLED();
	pthread_cleanup_push(cleanup, argument);
	down((unsigned)(unsigned long)argument, end_sleep);
	pthread_cleanup_pop(0);
	return NULL;
}

UNSEEN static pthread_t asleep_in(unsigned long depth)
{
	unsigned before = asleep;
	pthread_t t;

	if (pthread_create(&t, NULL, sleeping_body, (void *)depth))
		_exit(121);
	while (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE) == before)
		usleep(100);
	return t;
}

static void cancel(void)
{
	CALLED();
	for (unsigned i = 0; i < 30; i++) {
		pthread_t t = asleep_in(i);

		pthread_cancel(t);
		pthread_join(t, NULL);
		leaf(i);
	}
}

static unsigned survived;

static APART void end_pause(void)
{
	CALLED();
	__atomic_fetch_add(&survived, 1, __ATOMIC_RELAXED);
	for (;;)
		pause();
}

/* The cancellation takes effect at the first cancellation point, in end_pause(). */
UNSEEN static void *doomed_body(void *argument)
{
	pid_t *child = argument;

	pthread_cancel(pthread_self());
	*child = fork();
	if (!*child)
		truth_forked();
	pthread_cleanup_push(cleanup, argument);
	down(4, end_pause);
	pthread_cleanup_pop(0);
	return NULL;
}

static void doomed(void)
{
	CALLED();
	for (unsigned i = 0; i < 5; i++) {
		pthread_t t;
		pid_t child;
		int status;

		if (pthread_create(&t, NULL, doomed_body, &child) || pthread_join(t, NULL) ||
		    survived != i + 1 || waitpid(child, &status, 0) != child || status)
			_exit(121);
	}
}

static void *later(void *argument)
{
	CALLED();
	usleep(20000);
	for (unsigned i = 0; i < 100; i++)
		leaf(argument != NULL);
	return NULL;
}

static void main_ends(void)
{
	pthread_t t;

	CALLED();
	for (unsigned i = 0; i < 3; i++)
		if (pthread_create(&t, NULL, later, NULL))
			_exit(121);
	down(5, end_thread);
}

static void others(void)
{
	CALLED();
	for (unsigned i = 0; i < 3; i++)
		asleep_in(i * 5);
	down(3, end_exit);
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"exit", by_exit},        {"at_once", at_once}, {"quick", quick},
	        {"abort", by_abort},      {"crash", crash},     {"killed", killed},
	        {"thread", thread},       {"cancel", cancel},   {"doomed", doomed},
	        {"main_ends", main_ends}, {"others", others},   {NULL, NULL},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
