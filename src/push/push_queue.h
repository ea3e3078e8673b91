/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_queue: the batches of one session: spool, sender, and their account.
 *
 * Each batch that is due was sent, waits in the spool, or was dropped; each of the four is counted
 * by itself. Due are the batches of this session and those that an earlier one left in the spool.
 *
 *	push_queue_open(&q, &options, err)	starts the sender: while this process has one thread
 *	push_queue_add(q, time_ns, &batch)
 *	push_queue_look(q, &account)		at any time, also after the end
 *	push_queue_end(q)			sends for some seconds what waits
 *	push_queue_free(q)			NULL-safe
 *
 * A batch that cannot be written is dropped, and no failure ends the session. One thread. Uses:
 * base.
 */
#ifndef ASSAY_PUSH_PUSH_QUEUE_H
#define ASSAY_PUSH_PUSH_QUEUE_H

#include "push/push_sender.h"

struct push_queue;

struct push_queue_options {
	struct push_target target; /* the caller keeps its texts */
	const char *address;       /* as the user wrote it */
	const char *spool;         /* directory */
	uint64_t spool_bytes;
	struct http_client_options client;
};

int push_queue_open(struct push_queue **q, const struct push_queue_options *o, struct error *err);
void push_queue_add(struct push_queue *q, uint64_t time_ns, const struct push_batch *b);
void push_queue_look(struct push_queue *q, struct send_account *a);
/* -ECHILD: the process that sends was killed. */
int push_queue_alive(struct push_queue *q, struct error *err);
void push_queue_end(struct push_queue *q);
void push_queue_free(struct push_queue *q);

#endif
