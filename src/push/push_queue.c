/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_queue.h"

#include <stdio.h>

struct push_queue {
	struct push_spool *spool;
	struct push_sender *sender;
	struct send_count due, full, unwritten;
	struct error failed; /* of the last batch that was not written */
};

static void add(struct send_count *to, uint64_t batches, uint64_t samples)
{
	to->batches += batches;
	to->samples += samples;
}

int push_queue_open(struct push_queue **out, const struct push_queue_options *o, struct error *err)
{
	const struct push_spool_options spool = {
	        .directory = o->spool, .address = o->address, .bytes_max = o->spool_bytes};
	struct push_sender_options sender = {.target = &o->target, .client = o->client};
	struct push_queue *q = xcalloc(1, sizeof(*q));
	int ret = push_spool_open(&q->spool, &spool, err);

	if (!ret)
		push_spool_count(q->spool, &q->due);
	sender.spool = q->spool;
	if (!ret)
		ret = push_sender_start(&q->sender, &sender, err);
	if (ret)
		push_queue_free(q);
	*out = ret ? NULL : q;
	return ret;
}

void push_queue_add(struct push_queue *q, uint64_t time_ns, const struct push_batch *b)
{
	struct send_count dropped;

	add(&q->due, 1, b->samples);
	if (push_spool_add(q->spool, time_ns, b, &dropped, &q->failed))
		add(&q->unwritten, 1, b->samples);
	else
		q->failed.text[0] = 0;
	add(&q->full, dropped.batches, dropped.samples);
	sender_process_wake(push_sender_process(q->sender));
}

static void count_waiting(void *ctx, struct send_count *c)
{
	push_spool_count(ctx, c);
}

void push_queue_look(struct push_queue *q, struct send_account *a)
{
	*a = (struct send_account){.due = q->due,
	                           .full = q->full,
	                           .unwritten = q->unwritten,
	                           .spool = push_spool_path(q->spool)};
	sender_process_look(push_sender_process(q->sender), count_waiting, q->spool, a);
	if (q->failed.text[0])
		snprintf(a->error, sizeof(a->error), "%.*s", (int)sizeof(a->error) - 1,
		         q->failed.text);
}

int push_queue_alive(struct push_queue *q, struct error *err)
{
	return sender_process_alive(push_sender_process(q->sender), err);
}

void push_queue_end(struct push_queue *q)
{
	sender_process_end(push_sender_process(q->sender));
}

void push_queue_free(struct push_queue *q)
{
	if (!q)
		return;
	push_sender_free(q->sender);
	push_spool_close(q->spool);
	free(q);
}
