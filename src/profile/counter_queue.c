/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/counter_queue.h"

#include "base/process/helper_thread.h"
#include "base/memory/xalloc.h"

#include <stdlib.h>

enum {
	BATCHES = 4,
	START_BATCHES = 8, /* the caller counts so many batches itself, since a thread is not
	                      worthwhile before */
};

struct note_batch {
	size_t count;
	struct counter_update notes[UPDATE_BATCH];
};

struct counter_queue {
	counter_update_fn *take;
	void *ctx;
	struct note_batch *batches; /* ring of BATCHES */
	uint64_t filled;            /* complete batches; the caller fills batch filled % BATCHES */
	uint64_t counted;           /* batches that were counted */
	bool alone, closed;
	struct helper_thread counter;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct counter_queue *counter_queue_new(counter_update_fn *take, void *ctx, bool alone)
{
	struct counter_queue *q = xcalloc(1, sizeof(*q));

	q->take = take;
	q->ctx = ctx;
	q->alone = alone;
	q->batches = xcalloc(BATCHES, sizeof(*q->batches));
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	return q;
}

/* Counts batches until the queue is finished. */
static void count_all(void *arg)
{
	struct counter_queue *q = arg;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		struct note_batch *batch = &q->batches[q->counted % BATCHES];

		while (q->counted == q->filled && !q->closed)
			pthread_cond_wait(&q->changed, &q->lock);
		if (q->counted == q->filled)
			break;
		pthread_mutex_unlock(&q->lock);
		q->take(q->ctx, batch->notes, batch->count);
		pthread_mutex_lock(&q->lock);
		batch->count = 0;
		q->counted++;
		pthread_cond_signal(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
}

static void hand_over(struct counter_queue *q)
{
	struct note_batch *batch = &q->batches[q->filled % BATCHES];

	if (!q->counter.running && !q->alone && q->filled >= START_BATCHES)
		q->alone = !helper_thread_start(&q->counter, count_all, q);
	if (!q->counter.running) {
		q->take(q->ctx, batch->notes, batch->count);
		batch->count = 0;
		q->filled++;
		q->counted++;
		return;
	}
	pthread_mutex_lock(&q->lock);
	q->filled++;
	pthread_cond_signal(&q->changed);
	while (q->filled - q->counted == BATCHES)
		pthread_cond_wait(&q->changed, &q->lock);
	pthread_mutex_unlock(&q->lock);
}

struct counter_update *counter_queue_add(struct counter_queue *q)
{
	struct note_batch *batch = &q->batches[q->filled % BATCHES];

	if (batch->count == UPDATE_BATCH) {
		hand_over(q);
		batch = &q->batches[q->filled % BATCHES];
	}
	return &batch->notes[batch->count++];
}

static void end(struct counter_queue *q)
{
	if (!q->counter.running)
		return;
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
	helper_thread_join(&q->counter);
	q->alone = true;
}

void counter_queue_finish(struct counter_queue *q)
{
	hand_over(q);
	end(q);
}

void counter_queue_free(struct counter_queue *q)
{
	if (!q)
		return;
	end(q);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->changed);
	free(q->batches);
	free(q);
}
