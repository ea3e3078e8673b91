/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * priority: a mutex with priority inheritance. `low` owns it and computes, `high` waits for it,
 * and `middle` computes on the same CPU. The kernel lends the priority of `high` to `low`. Without
 * the right to use real-time priorities all three have the same priority, and the owner is the
 * same.
 */
#include "truth.h"

#include <sched.h>
#include <semaphore.h>

#define ROUNDS 50

static pthread_mutex_t table_lock;
static sem_t go_high, go_middle, high_done;

static void set_priority(int priority)
{
	struct sched_param p = {.sched_priority = priority};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof one, &one);
	sched_setscheduler(0, SCHED_FIFO, &p);
}

static APART void enter_table(void)
{
	struct truth_mark from = truth_mark();

	pthread_mutex_lock(&table_lock);
	truth_waited(from,
	             (struct truth_cause){"lock", "table_lock", "low", "release_table", "low"});
	pthread_mutex_unlock(&table_lock);
}

static APART void release_table(void)
{
	pthread_mutex_unlock(&table_lock);
}

static APART void await(sem_t *s, const char *name, const char *by, const char *function)
{
	struct truth_mark from = truth_mark();

	sem_wait(s);
	truth_waited(from, (struct truth_cause){"semaphore", name, by, function, NULL});
}

static APART void wake_rivals(void)
{
	sem_post(&go_middle);
	sem_post(&go_high);
}

static APART void finish_round(void)
{
	sem_post(&high_done);
}

static void *low(void *unused)
{
	truth_name("low");
	set_priority(1);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&table_lock);
		wake_rivals();
		truth_compute(2 * MS);
		release_table();
		await(&high_done, "high_done", "high", "finish_round");
		truth_sleep(12 * MS);
	}
	return unused;
}

static void *middle(void *unused)
{
	truth_name("middle");
	set_priority(2);
	for (int i = 0; i < ROUNDS; i++) {
		await(&go_middle, "go_middle", "low", "wake_rivals");
		truth_compute(1 * MS);
	}
	return unused;
}

static void *high(void *unused)
{
	truth_name("high");
	set_priority(3);
	for (int i = 0; i < ROUNDS; i++) {
		await(&go_high, "go_high", "low", "wake_rivals");
		enter_table();
		finish_round();
	}
	return unused;
}

int main(void)
{
	pthread_mutexattr_t inherit;
	pthread_t threads[3];

	truth_begin("priority");
	pthread_mutexattr_init(&inherit);
	must(pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT), "PTHREAD_PRIO_INHERIT");
	pthread_mutex_init(&table_lock, &inherit);
	sem_init(&go_high, 0, 0);
	sem_init(&go_middle, 0, 0);
	sem_init(&high_done, 0, 0);
	threads[0] = truth_start(high, NULL);
	threads[1] = truth_start(middle, NULL);
	threads[2] = truth_start(low, NULL);
	for (int i = 0; i < 3; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
