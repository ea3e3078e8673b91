/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_sender: what the process that sends does with the batches of a spool (sender_process.h).
 *
 * It sends the oldest batch first and removes it after the back end accepted it (at least once). A
 * batch that the back end refuses is removed and counted.
 *
 *	push_sender_start(&s, &options, err)	as sender_process_start()
 *	push_sender_process(s)			for sender_process_wake() and so on
 *	push_sender_free(s)			NULL-safe
 *
 * One thread. Uses: base.
 */
#ifndef ASSAY_PUSH_PUSH_SENDER_H
#define ASSAY_PUSH_PUSH_SENDER_H

#include "push/push_delivery.h"
#include "push/push_spool.h"

#define PUSH_END_MS 5000

struct push_sender;

struct push_sender_options {
	const struct push_target *target;
	struct http_client_options client;
	struct push_spool *spool;
};

int push_sender_start(struct push_sender **s, const struct push_sender_options *o,
                      struct error *err);
struct sender_process *push_sender_process(const struct push_sender *s);
void push_sender_free(struct push_sender *s);

#endif
