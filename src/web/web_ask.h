/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_ask: a request that the server cannot answer itself, as it goes through the channel.
 *
 *	web_ask_put()		in the server: the bytes of the message
 *	web_ask_read()		in the other process: the request; web_ask_argument(),
 * web_ask_done()
 *
 * The server parsed the bytes of a client, and has no rights: the other process checks all bytes
 * again. -EPROTO: they are not a request. One thread. Uses: web_channel.
 */
#ifndef ASSAY_WEB_WEB_ASK_H
#define ASSAY_WEB_WEB_ASK_H

#include "base/memory/buf.h"
#include "web/web_channel.h"

struct web_ask {
	uint32_t id;
	const char *path, *type; /* type: that of the body, "" for GET */
	/* The body, or for GET the arguments: name and value, each with a NUL at its end. */
	const char *body;
	size_t size;
	char *bytes; /* that the others point into */
};

/* Appends the head of the message; the body or the arguments follow. */
void web_ask_put(struct buf *out, const char *path, const char *type);
void web_ask_put_argument(struct buf *out, const char *name, const char *value);

/* Closes the message's file. */
int web_ask_read(struct web_ask *a, const struct web_message *m, struct error *err);
/* The value of an argument of GET; NULL: it is missing or empty. */
const char *web_ask_argument(const struct web_ask *a, const char *name);
void web_ask_done(struct web_ask *a);

#endif
