/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_queue.h"

#include <stdio.h>

#define LOOKS 10 /* until no batch was sent between two readings */

struct push_queue {
	struct push_spool *spool;
	struct push_sender *sender;
	struct push_count due, full, unwritten;
	struct error failed; /* of the last batch that was not written */
};

static void add(struct push_count *to, uint64_t batches, uint64_t samples)
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
	struct push_count dropped;

	add(&q->due, 1, b->samples);
	if (push_spool_add(q->spool, time_ns, b, &dropped, &q->failed))
		add(&q->unwritten, 1, b->samples);
	else
		q->failed.text[0] = 0;
	add(&q->full, dropped.batches, dropped.samples);
	push_sender_wake(q->sender);
}

void push_queue_look(struct push_queue *q, struct push_queue_account *a)
{
	struct push_sender_state before, after;
	struct push_count waiting = {0};

	/* A batch that is sent between the readings would be counted twice or not at all. */
	push_sender_read(q->sender, &after);
	for (int i = 0; i < LOOKS; i++) {
		before = after;
		push_spool_count(q->spool, &waiting);
		push_sender_read(q->sender, &after);
		if (before.sent.batches == after.sent.batches &&
		    before.refused.batches == after.refused.batches)
			break;
	}
	*a = (struct push_queue_account){.due = q->due,
	                                 .sent = after.sent,
	                                 .waiting = waiting,
	                                 .full = q->full,
	                                 .unwritten = q->unwritten,
	                                 .refused = after.refused,
	                                 .failures = after.failures,
	                                 .spool = push_spool_path(q->spool),
	                                 .exited = after.exited};
	snprintf(a->error, sizeof(a->error), "%.*s", (int)sizeof(a->error) - 1,
	         q->failed.text[0] ? q->failed.text : after.error);
}

void push_queue_end(struct push_queue *q)
{
	push_sender_end(q->sender);
}

void push_queue_free(struct push_queue *q)
{
	if (!q)
		return;
	push_sender_free(q->sender);
	push_spool_close(q->spool);
	free(q);
}
