/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_clients: the open connections of the web server, and their limits.
 *
 * A connection that has sent no valid request within WEB_CLIENT_SECONDS is shut down, however fast
 * its bytes come. So is the oldest of these if there are more than WEB_CLIENTS_STRANGE.
 *
 *	web_clients_begin()	a new connection; the result identifies it
 *	web_clients_trust()	it has sent a request with the token
 *	web_clients_end()	it was closed
 *	web_clients_tick()	shuts down those that are late; call it about once a second
 *
 * A zeroed struct is empty. One thread. Uses: base.
 */
#ifndef ASSAY_WEB_WEB_CLIENTS_H
#define ASSAY_WEB_WEB_CLIENTS_H

#include <stdint.h>

#define WEB_CLIENT_SECONDS 10
#define WEB_CLIENTS_MAX 64
#define WEB_CLIENTS_STRANGE 32

struct web_client;

struct web_clients {
	struct web_client *first; /* the newest */
	unsigned strange;         /* number of connections without a valid request */
};

/* `fd`: of the connection, which stays its owner's. Ends with web_clients_end(). */
struct web_client *web_clients_begin(struct web_clients *c, int fd, uint64_t now_ns);
void web_clients_trust(struct web_clients *c, struct web_client *client);
void web_clients_end(struct web_clients *c, struct web_client *client);
void web_clients_tick(struct web_clients *c, uint64_t now_ns);

#endif
