/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_clients.h"

#include "base/memory/xalloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

struct web_client {
	int fd;
	uint64_t began_ns;
	bool trusted, shut;
	struct web_client *next, **link;
};

/* The library notices it, and closes the connection. */
static void shut(struct web_client *client)
{
	if (!client->shut)
		shutdown(client->fd, SHUT_RDWR);
	client->shut = true;
}

static void shut_oldest(struct web_clients *c)
{
	struct web_client *oldest = NULL;

	for (struct web_client *client = c->first; client; client = client->next)
		if (!client->trusted && !client->shut)
			oldest = client;
	if (oldest)
		shut(oldest);
}

struct web_client *web_clients_begin(struct web_clients *c, int fd, uint64_t now_ns)
{
	struct web_client *client = xcalloc(1, sizeof(*client));

	if (c->strange >= WEB_CLIENTS_STRANGE)
		shut_oldest(c);
	client->fd = fd;
	client->began_ns = now_ns;
	client->next = c->first;
	client->link = &c->first;
	if (client->next)
		client->next->link = &client->next;
	c->first = client;
	c->strange++;
	return client;
}

void web_clients_trust(struct web_clients *c, struct web_client *client)
{
	c->strange -= !client->trusted;
	client->trusted = true;
}

void web_clients_end(struct web_clients *c, struct web_client *client)
{
	c->strange -= !client->trusted;
	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	free(client);
}

void web_clients_tick(struct web_clients *c, uint64_t now_ns)
{
	for (struct web_client *client = c->first; client; client = client->next)
		if (!client->trusted &&
		    now_ns > client->began_ns + WEB_CLIENT_SECONDS * UINT64_C(1000000000))
			shut(client);
}
