/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_clients.h"

#include "check.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

struct ends {
	int ours, theirs;
	struct web_client *client;
};

static struct ends begin(struct web_clients *c, uint64_t now_ns)
{
	struct ends e;
	int pair[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	e.ours = pair[0];
	e.theirs = pair[1];
	e.client = web_clients_begin(c, e.ours, now_ns);
	return e;
}

static void end(struct web_clients *c, struct ends *e)
{
	web_clients_end(c, e->client);
	close(e->ours);
	close(e->theirs);
}

static bool is_shut(const struct ends *e)
{
	char byte;

	return recv(e->theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

static void a_connection_without_a_request_is_shut_down(void)
{
	struct web_clients c = {0};
	struct ends late = begin(&c, 0), good = begin(&c, 0), new = begin(&c, SECOND);

	web_clients_trust(&c, good.client);
	web_clients_tick(&c, WEB_CLIENT_SECONDS * SECOND);
	CHECK(!is_shut(&late));
	web_clients_tick(&c, WEB_CLIENT_SECONDS * SECOND + 1);
	CHECK(is_shut(&late));
	CHECK(!is_shut(&good));
	CHECK(!is_shut(&new));
	end(&c, &late);
	end(&c, &good);
	end(&c, &new);
	CHECK(!c.first);
	CHECK_EQ(c.strange, 0);
}

static void the_oldest_connection_makes_room(void)
{
	struct web_clients c = {0};
	struct ends trusted = begin(&c, 0), strange[WEB_CLIENTS_STRANGE], more;

	web_clients_trust(&c, trusted.client);
	for (size_t i = 0; i < WEB_CLIENTS_STRANGE; i++)
		strange[i] = begin(&c, i + 1);
	for (size_t i = 0; i < WEB_CLIENTS_STRANGE; i++)
		CHECK(!is_shut(&strange[i]));
	more = begin(&c, 1000);
	CHECK(is_shut(&strange[0]));
	CHECK(!is_shut(&strange[1]));
	CHECK(!is_shut(&trusted));
	CHECK(!is_shut(&more));
	for (size_t i = 0; i < WEB_CLIENTS_STRANGE; i++)
		end(&c, &strange[i]);
	end(&c, &more);
	end(&c, &trusted);
	CHECK_EQ(c.strange, 0);
}

int main(void)
{
	RUN(a_connection_without_a_request_is_shut_down);
	RUN(the_oldest_connection_makes_room);
	return check_end();
}
