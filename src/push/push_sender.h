/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_sender: the process that sends the batches of a spool.
 *
 * It is a child of the process that samples, since requests wait for networks and TLS code should
 * not have the rights to sample: it has no capabilities and cannot gain any. It sends the oldest
 * batch first and removes it after the back end accepted it (at least once). After a passing
 * failure it pauses (push_backoff.h). If the back end refuses the sender (token, certificate,
 * redirect), it tries again every ten minutes, at the end of the session, or when the file of the
 * token changes. A batch that the back end refuses is removed and counted.
 *
 *	push_sender_start(&s, &options, err)	while this process has one thread
 *	push_sender_wake(s)			a batch was added
 *	push_sender_read(s, &state)
 *	push_sender_end(s)			lets it send for up to PUSH_END_MS, waits for it
 *	push_sender_free(s)			NULL-safe
 *
 * If the process that samples is killed, it sends for the same time and exits; the spool keeps the
 * rest. One thread. Uses: base, launch.
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

struct push_sender_state {
	struct push_count sent, refused; /* refused: by the back end, or damaged */
	uint64_t failures;               /* attempts that failed */
	char error[1024];                /* the last failure; empty: none since the last success */
	bool exited;                     /* the process has ended, by itself */
};

int push_sender_start(struct push_sender **s, const struct push_sender_options *o,
                      struct error *err);
void push_sender_wake(struct push_sender *s);
void push_sender_read(struct push_sender *s, struct push_sender_state *state);
void push_sender_end(struct push_sender *s);
void push_sender_free(struct push_sender *s);

#endif
