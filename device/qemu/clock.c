/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock: host time, or instructions and the time that QEMU skipped. */
#include "clock.h"
#include "qemu_plugin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static struct {
	bool host, icount;
	uint64_t instructions; /* QEMU's code adds to it */
	_Atomic bool halted;   /* `skipped` must be read again */
	int64_t skipped;       /* ns */
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	uint64_t questions, answers;
} timer = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .asked = PTHREAD_COND_INITIALIZER,
           .answered = PTHREAD_COND_INITIALIZER};

/* Between the two readings a slice may end, so they are repeated until the count is the same. */
static int64_t read_skipped(void)
{
	int64_t before, after, now;

	do {
		before = icount_get_raw();
		now = icount_get();
		after = icount_get_raw();
	} while (before != after);
	return now - icount_to_ns(after);
}

static void *reader(void *unused)
{
	pthread_mutex_lock(&timer.lock);
	for (;;) {
		while (timer.answers == timer.questions)
			pthread_cond_wait(&timer.asked, &timer.lock);
		timer.skipped = read_skipped();
		timer.answers = timer.questions;
		pthread_cond_broadcast(&timer.answered);
	}
	return unused;
}

static void ask(void)
{
	uint64_t question;

	pthread_mutex_lock(&timer.lock);
	question = ++timer.questions;
	pthread_cond_signal(&timer.asked);
	while (timer.answers < question)
		pthread_cond_wait(&timer.answered, &timer.lock);
	pthread_mutex_unlock(&timer.lock);
}

int clock_open(bool host)
{
	pthread_t thread;

	timer.host = host;
	timer.icount =
	        !host && &use_icount && use_icount && icount_get && icount_get_raw && icount_to_ns;
	atomic_store(&timer.halted, true);
	if (!timer.icount)
		return 0;
	if (pthread_create(&thread, NULL, reader, NULL))
		return -1;
	pthread_detach(thread);
	return 0;
}

bool clock_is_icount(void)
{
	return timer.icount;
}

uint64_t *clock_counter(void)
{
	return &timer.instructions;
}

void clock_halted(void)
{
	atomic_store_explicit(&timer.halted, true, memory_order_relaxed);
}

uint64_t clock_now(uint64_t back)
{
	struct timespec t;
	uint64_t executed;

	if (timer.host) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	}
	executed = timer.instructions - back;
	if (!timer.icount)
		return executed;
	if (atomic_load_explicit(&timer.halted, memory_order_relaxed) &&
	    atomic_exchange(&timer.halted, false))
		ask();
	return (uint64_t)(icount_to_ns((int64_t)executed) + timer.skipped);
}
