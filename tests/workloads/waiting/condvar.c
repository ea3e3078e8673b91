/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * condvar: a consumer waits for a condition variable, which a producer signals every 10 ms in
 * produce_item(), after it has released the mutex.
 */
#include "truth.h"

#define ITEMS 90

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_ready = PTHREAD_COND_INITIALIZER;
static int queued;

static APART void take_item(void)
{
	struct truth_mark from;

	pthread_mutex_lock(&queue_lock);
	while (!queued) {
		from = truth_mark();
		pthread_cond_wait(&queue_ready, &queue_lock);
		truth_waited(from, (struct truth_cause){"condition", "queue_ready", "producer",
		                                        "produce_item", NULL});
	}
	queued--;
	pthread_mutex_unlock(&queue_lock);
}

static APART void produce_item(void)
{
	pthread_mutex_lock(&queue_lock);
	queued++;
	pthread_mutex_unlock(&queue_lock);
	pthread_cond_signal(&queue_ready);
}

static void *producer(void *unused)
{
	truth_name("producer");
	for (int i = 0; i < ITEMS; i++) {
		truth_sleep(10 * MS);
		produce_item();
	}
	return unused;
}

static void *consumer(void *unused)
{
	truth_name("consumer");
	for (int i = 0; i < ITEMS; i++)
		take_item();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	truth_begin("condvar");
	threads[0] = truth_start(producer, NULL);
	threads[1] = truth_start(consumer, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
