/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_channel: messages between the process that makes the data and the process that serves it.
 *
 * A message is a kind and a file in memory with its bytes (memfd), which the receiver owns; no
 * bytes are copied. The sender waits while the receiver's queue is full. When one side has exited,
 * the other one receives -EPIPE. 0 or -errno. One thread per side. Uses: base.
 */
#ifndef ASSAY_WEB_WEB_CHANNEL_H
#define ASSAY_WEB_WEB_CHANNEL_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum web_message_kind {
	WEB_MESSAGE_READY,  /* from the server: it serves; no bytes */
	WEB_MESSAGE_FAILED, /* from the server: the sentence */
	WEB_MESSAGE_DATA,   /* to the server: the data of the page */
	WEB_MESSAGE_END,    /* to the server: no data will follow; no bytes */
	WEB_MESSAGE_ASK,    /* from the server: a request (web_ask.h) */
	WEB_MESSAGE_ANSWER, /* to the server: its answer */
};

/* The content type of an answer. */
enum web_answer_type { WEB_ANSWER_DATA, WEB_ANSWER_TEXT, WEB_ANSWER_JSON, WEB_ANSWER_PROTO };

struct web_message {
	uint32_t kind;
	uint32_t flags;        /* of WEB_MESSAGE_READY: WEB_OPEN_TO_ALL */
	uint32_t id;           /* of a request and its answer */
	uint16_t status, type; /* of an answer: HTTP status, enum web_answer_type */
	uint64_t size;
	int fd; /* -1: no bytes */
};

/* The kernel does not report the owners of connections, so the token alone protects the page. */
#define WEB_OPEN_TO_ALL 1

/* `ends`: two connected descriptors. */
int web_channel_open(int ends[2], struct error *err);

/* `bytes` are copied to the file; NULL: none. m->fd and m->size are ignored. */
int web_channel_send(int end, const struct web_message *m, const void *bytes, size_t size,
                     struct error *err);

/* -EAGAIN: `wait` is false, and there is no message. */
int web_channel_receive(int end, struct web_message *m, int wait);

#endif
