/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_server: answers the requests for the page, in a process of its own (web_process.h).
 *
 *	GET /		the page
 *	GET /data	its data: the newest of the channel
 *	GET /events	server-sent events: "update" when new data came, "end" after the last
 *	POST WEB_INTERFACE...	calls, which the other process answers
 *
 * All need the token as the argument `token`; calls have it in the header "Authorization: Bearer
 * TOKEN" instead. web_server_run() reports on the channel that it
 * serves, and returns when the other end of the channel is closed. Clients are not trusted: the
 * number of connections is limited, a request must be complete within CLIENT_SECONDS, its head has
 * a limit, and connections of users other than `users` are closed at once if the kernel reports the
 * owner of a connection. One thread; it never waits for a client. Uses: microhttpd.
 */
#ifndef ASSAY_WEB_WEB_SERVER_H
#define ASSAY_WEB_WEB_SERVER_H

#include "web/web_guard.h"
#include "web/web_page.h"

#include <sys/types.h>

#define WEB_USERS_MAX 4
/* Paths of the interface that is called by POST. */
#define WEB_INTERFACE "/querier.v1.QuerierService/"

struct web_server_options {
	struct web_guard guard;
	struct web_page page;
	uid_t users[WEB_USERS_MAX]; /* who may connect; entries may be equal */
	int listener, channel;
	bool asks;      /* the data depends on the arguments: the other process is asked for it */
	bool interface; /* WEB_INTERFACE is served; the other process is asked, too */
};

int web_server_run(const struct web_server_options *o, struct error *err);

#endif
