/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_asks: the requests of the server that wait for an answer of the other process.
 *
 *	web_asks_new()
 *	web_asks_begin()	a request has come whose body, if any, follows
 *	web_asks_step()		each further call of MHD for it
 *	web_asks_answer()	an answer has come
 *	web_asks_forget()	MHD has ended the request
 *	web_asks_close()	before MHD_stop_daemon(); web_asks_free() after it, NULL-safe
 *
 * A connection is suspended while it waits. At most WEB_ASKS_MAX wait, so that the channel never
 * fills up. One thread. Uses: microhttpd.
 */
#ifndef ASSAY_WEB_WEB_ASKS_H
#define ASSAY_WEB_WEB_ASKS_H

#include "web/microhttpd.h"
#include "web/web_ask.h"

#include <stdbool.h>

#define WEB_ASKS_MAX 16

struct web_asks;
struct web_asked;

struct web_asks *web_asks_new(const struct microhttpd *m, int channel);
/* `posts`: a body follows, else the arguments of the request are passed on. */
struct web_asked *web_asks_begin(struct web_asks *a, struct MHD_Connection *connection,
                                 const char *path, bool posts);

enum web_asks_state {
	WEB_ASKS_WAITS,    /* return MHD_YES */
	WEB_ASKS_TOO_LONG, /* refuse: 413 */
	WEB_ASKS_TOO_MANY, /* refuse: 503 */
	WEB_ASKS_ANSWERED, /* queue web_asked_response() */
	WEB_ASKS_CLOSED,   /* return MHD_NO */
};
enum web_asks_state web_asks_step(struct web_asks *a, struct web_asked *asked, const char *upload,
                                  size_t *upload_size);
/* The caller adds headers, queues and destroys it. */
struct MHD_Response *web_asked_response(struct web_asked *asked, unsigned *status,
                                        enum web_answer_type *type);

/* Takes the file of the message. */
void web_asks_answer(struct web_asks *a, const struct web_message *m);
void web_asks_forget(struct web_asks *a, struct web_asked *asked);
void web_asks_close(struct web_asks *a);
void web_asks_free(struct web_asks *a);

#endif
