/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sender_process: a child of the process that samples, which delivers what waits in a spool.
 *
 * Requests wait for networks, and code for TLS should not have the rights to sample. So the child
 * has no capabilities and cannot gain any, and it keeps no descriptors but those that it needs. It
 * calls attempt() until nothing waits, and then sleeps until sender_process_wake(). After a failure
 * it pauses (backoff.h). If the server refuses the sender (password, certificate, redirect), it
 * tries again every ten minutes, at the end, or when the token file changes.
 *
 *	sender_process_start(&s, &options, err)	while this process has one thread
 *	sender_process_ready(s, ms, err)	waits for prepare(), if there is one
 *	sender_process_wake(s)			something was added
 *	sender_process_read(s, &state)
 *	sender_process_end(s)			lets it send for up to end_ms, and waits for it
 *	sender_process_free(s)			NULL-safe
 *
 * If the parent is killed, the child gives up its request and exits: the spool has the rest. One
 * thread in each process. Uses: base.
 */
#ifndef ASSAY_BASE_PROCESS_SENDER_PROCESS_H
#define ASSAY_BASE_PROCESS_SENDER_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sender_process;
struct sending; /* the child's state */

/* Batches: of push, or windows of a store. */
struct send_count {
	uint64_t batches, samples;
};

/* Size limit of a spool, unless the options say another one. */
#define SEND_SPOOL_BYTES UINT64_C(1000000000)

/* due = sent + waiting + dropped: each of them is counted by itself. */
struct send_account {
	struct send_count due, sent, waiting;
	struct send_count full;      /* dropped: the spool was full */
	struct send_count unwritten; /* dropped: not written to the spool */
	struct send_count refused;   /* dropped: by the server, or damaged in the spool */
	uint64_t failures;           /* attempts that failed */
	char error[1024];            /* the last failure; empty: none since the last success */
	const char *spool;           /* path */
	uint64_t cpu_ns;             /* CPU time of the process that sends */
	bool exited;                 /* it has ended by itself */
};

enum sending_result {
	SENDING_IDLE, /* nothing waits */
	SENDING_DONE,
	SENDING_FAILED,  /* err has the sentence; after a pause it may succeed */
	SENDING_REFUSED, /* the same; the server refuses this sender */
};

struct sender_process_options {
	const char *name; /* of the process, at most 15 characters */
	/* In the child, before the first attempt. NULL: not needed. */
	int (*prepare)(void *ctx, struct sending *s, struct error *err);
	enum sending_result (*attempt)(void *ctx, struct sending *s, struct error *err);
	void *ctx;
	const char *token_file;     /* NULL: none */
	int kept;                   /* a descriptor of the child; -1: none */
	bool sleeps;                /* no attempt before the first sender_process_wake() */
	uint64_t first_ms, most_ms; /* of the pauses */
	uint64_t end_ms;
};

struct sender_state {
	struct send_count sent, refused; /* refused: by the server, or damaged */
	uint64_t failures;               /* attempts that failed */
	char error[1024];                /* the last failure; empty: none since the last success */
	uint64_t cpu_ns;                 /* of the process */
	bool exited;                     /* it has ended, by itself */
};

int sender_process_start(struct sender_process **s, const struct sender_process_options *o,
                         struct error *err);
/* The result of prepare(). -ETIMEDOUT: there is none after this time; the child continues. */
int sender_process_ready(struct sender_process *s, uint64_t most_ms, struct error *err);
void sender_process_wake(struct sender_process *s);
/* -ECHILD: the process has ended by itself. */
int sender_process_alive(struct sender_process *s, struct error *err);
void sender_process_read(struct sender_process *s, struct sender_state *state);
void sender_process_end(struct sender_process *s);
void sender_process_free(struct sender_process *s);

/*
 * Reads what was sent and what waits at one moment: a batch that is sent between two readings would
 * be counted twice or not at all. count() reads what waits.
 */
void sender_process_look(struct sender_process *s, void (*count)(void *ctx, struct send_count *c),
                         void *ctx, struct send_account *a);

/* ---- in the child ---------------------------------------------------------- */

/* The change between both, of the state and of the spool, is one for a reader. */
struct sender_state *sending_begin(struct sending *s);
void sending_end(struct sending *s);
void sending_count(struct send_count *to, uint64_t batches, uint64_t samples);
/* True: the parent ended it; what waits is sent for some seconds. */
bool sending_has_ended(const struct sending *s);
/* For http_client_options.stop: `sending` is the struct sending. True: the time is over. */
bool sending_is_late(void *sending);
/* The server asked for this pause after the attempt that fails now. */
void sending_asked(struct sending *s, uint64_t ms);

#endif
