/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/graph_merge.h"

#include "base/memory/vec.h"

#include <string.h>

/* Limits per CPU, at 56 bytes per event: events read in a round, and waiting events. */
#define ROUND_EVENTS 32768
#define WAITING_EVENTS 131072

struct queue {
	VEC(struct graph_event) events;
	size_t next;
	bool drained; /* this round has read its buffer to the end */
};

struct graph_merge {
	struct function_graph *source;
	graph_event_fn *deliver;
	void *ctx;
	VEC(struct queue) queues;
	uint64_t newest_ns;
};

struct graph_merge *graph_merge_new(struct function_graph *source, graph_event_fn *deliver,
                                    void *ctx)
{
	struct graph_merge *m = xcalloc(1, sizeof(*m));

	m->source = source;
	m->deliver = deliver;
	m->ctx = ctx;
	for (size_t i = 0; i < function_graph_cpus(source); i++)
		vec_add(&m->queues);
	return m;
}

void graph_merge_free(struct graph_merge *m)
{
	if (!m)
		return;
	vec_each (q, &m->queues)
		vec_done(&q->events);
	vec_done(&m->queues);
	free(m);
}

uint64_t graph_merge_newest_ns(const struct graph_merge *m)
{
	return m->newest_ns;
}

static void queue_event(void *ctx, const struct graph_event *e)
{
	struct queue *q = ctx;

	vec_push(&q->events, *e);
}

/* Removes delivered events, only if they are at least half of the queue, to limit copying. */
static void make_room(struct queue *q)
{
	size_t left = q->events.count - q->next;

	if (!q->next || left > q->next)
		return;
	if (left)
		memmove(q->events.items, q->events.items + q->next,
		        left * sizeof(*q->events.items));
	q->events.count = left;
	q->next = 0;
}

static int fill(struct graph_merge *m, size_t cpu, bool *busy, struct error *err)
{
	struct queue *q = &m->queues.items[cpu];
	int got = 1, read = 0;

	make_room(q);
	while (got && read < ROUND_EVENTS && q->events.count - q->next < WAITING_EVENTS) {
		got = function_graph_read(m->source, cpu, queue_event, q, err);
		if (got < 0)
			return got;
		read += got;
	}
	q->drained = !got;
	*busy = *busy || got;
	return 0;
}

static uint64_t newest_of(const struct queue *q)
{
	return q->events.count > q->next ? vec_last(&q->events)->time_ns : 0;
}

/* Few CPUs have events at any time, so a linear search is fast enough. */
static void deliver_until(struct graph_merge *m, uint64_t until_ns)
{
	for (;;) {
		struct queue *oldest = NULL;
		uint64_t second_ns = until_ns;

		vec_each (q, &m->queues) {
			uint64_t time_ns;

			if (q->next == q->events.count)
				continue;
			time_ns = q->events.items[q->next].time_ns;
			if (!oldest || time_ns < oldest->events.items[oldest->next].time_ns) {
				if (oldest &&
				    oldest->events.items[oldest->next].time_ns < second_ns)
					second_ns = oldest->events.items[oldest->next].time_ns;
				oldest = q;
			} else if (time_ns < second_ns) {
				second_ns = time_ns;
			}
		}
		if (!oldest || oldest->events.items[oldest->next].time_ns > until_ns)
			return;
		/* Continues until another CPU has an older event. */
		do
			m->deliver(m->ctx, &oldest->events.items[oldest->next++]);
		while (oldest->next < oldest->events.count &&
		       oldest->events.items[oldest->next].time_ns <= second_ns);
	}
}

int graph_merge_round(struct graph_merge *m, bool *busy, struct error *err)
{
	uint64_t safe_ns = m->newest_ns;

	*busy = false;
	for (size_t i = 0; i < m->queues.count; i++) {
		int status = fill(m, i, busy, err);

		if (status)
			return status;
	}
	vec_each (q, &m->queues) {
		uint64_t newest_ns = newest_of(q);

		if (newest_ns > m->newest_ns)
			m->newest_ns = newest_ns;
		if (!q->drained && newest_ns < safe_ns)
			safe_ns = newest_ns;
	}
	deliver_until(m, safe_ns);
	return 0;
}

int graph_merge_finish(struct graph_merge *m, struct error *err)
{
	bool busy = true;

	while (busy) {
		int status = graph_merge_round(m, &busy, err);

		if (status)
			return status;
	}
	deliver_until(m, UINT64_MAX);
	return 0;
}
