/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_producer: a consumer waits for a condition that a slow producer signals. The critical path
 * is the producer, and the last item of the consumer.
 */
#include "path.h"

#define ITEMS 40

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_ready = PTHREAD_COND_INITIALIZER;
static int queued;

COMPUTES(produce, 6)
COMPUTES(consume, 1)

static void *producer(void *unused)
{
	truth_name("producer");
	for (int i = 0; i < ITEMS; i++) {
		STEP(produce);
		pthread_mutex_lock(&queue_lock);
		queued++;
		pthread_mutex_unlock(&queue_lock);
		pthread_cond_signal(&queue_ready);
	}
	return unused;
}

static void *consumer(void *unused)
{
	truth_name("consumer");
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&queue_lock);
		while (!queued)
			pthread_cond_wait(&queue_ready, &queue_lock);
		queued--;
		pthread_mutex_unlock(&queue_lock);
		if (i == ITEMS - 1)
			STEP(consume);
		else
			consume();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	path_begin("path_producer", argc, argv);
	threads[0] = truth_start(producer, NULL);
	threads[1] = truth_start(consumer, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
