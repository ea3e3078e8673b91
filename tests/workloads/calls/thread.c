/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread: threads that call. Usage: thread CASE
 *
 *	crowd    16 at once
 *	going    400, at most 10 at a time: each takes the place of one that went
 *	family   threads that start threads, three levels
 *	small    on the smallest stack that there may be
 *	keys     destructors of thread-specific data call, and set the data again
 *	detached ended without being waited for
 */
#include "truth.h"

#include <limits.h>
#include <pthread.h>

static volatile unsigned long sink;

static void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

static void work(unsigned n)
{
	CALLED();
	for (unsigned i = 0; i < n; i++)
		leaf(i);
	if (n > 1)
		work(n / 2);
}

static void *body(void *argument)
{
	unsigned rounds = (unsigned)(unsigned long)argument;

	CALLED();
	for (unsigned i = 0; i < rounds; i++)
		work(i % 20);
	return NULL;
}

UNSEEN static pthread_t begin(void *(*function)(void *), unsigned long argument,
                              const pthread_attr_t *attributes)
{
	pthread_t thread;

	if (pthread_create(&thread, attributes, function, (void *)argument)) {
		dprintf(2, "no thread\n");
		_exit(121);
	}
	return thread;
}

static void several(unsigned n, unsigned rounds)
{
	pthread_t threads[16];

	CALLED();
	for (unsigned i = 0; i < n; i++)
		threads[i] = begin(body, rounds + i, NULL);
	for (unsigned i = 0; i < n; i++) {
		leaf(i);
		pthread_join(threads[i], NULL);
	}
}

static void crowd(void)
{
	CALLED();
	several(16, 2000);
}

static void going(void)
{
	CALLED();
	for (unsigned i = 0; i < 40; i++)
		several(10, i);
}

static void *parent(void *argument)
{
	unsigned long level = (unsigned long)argument;
	pthread_t threads[3];

	CALLED();
	work(5);
	for (unsigned i = 0; level && i < 3; i++)
		threads[i] = begin(parent, level - 1, NULL);
	work(6);
	for (unsigned i = 0; level && i < 3; i++)
		pthread_join(threads[i], NULL);
	leaf(1);
	return NULL;
}

static void family(void)
{
	CALLED();
	parent((void *)3);
}

static void small(void)
{
	pthread_attr_t attributes;

	CALLED();
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (unsigned i = 0; i < 20; i++)
		pthread_join(begin(body, i, &attributes), NULL);
	pthread_attr_destroy(&attributes);
}

static pthread_key_t key_once, key_again;

static void once(void *value)
{
	CALLED();
	work((unsigned)(unsigned long)value);
}

/* Sets its value again as often as the library allows, so that calls occur until the very end. */
static void again(void *value)
{
	CALLED();
	work((unsigned)(unsigned long)value);
	pthread_setspecific(key_again, value);
}

static void *with_data(void *argument)
{
	CALLED();
	pthread_setspecific(key_once, (void *)3);
	pthread_setspecific(key_again, (void *)4);
	return body(argument);
}

static void keys(void)
{
	CALLED();
	pthread_key_create(&key_once, once);
	pthread_key_create(&key_again, again);
	for (unsigned i = 0; i < 30; i++)
		pthread_join(begin(with_data, i, NULL), NULL);
}

static unsigned ended;

static void *alone(void *argument)
{
	CALLED();
	PATH("alone");
	work((unsigned)(unsigned long)argument);
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void detached(void)
{
	CALLED();
	for (unsigned i = 0; i < 40; i++)
		pthread_detach(begin(alone, i, NULL));
	while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < 40) {
		leaf(0);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"crowd", crowd}, {"going", going},       {"family", family}, {"small", small},
	        {"keys", keys},   {"detached", detached}, {NULL, NULL},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
