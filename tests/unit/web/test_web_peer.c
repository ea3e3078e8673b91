/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_peer.h"

#include "check.h"

#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

struct connection {
	struct web_address here;
	struct sockaddr_in6 peer; /* room for both families */
	int listener, client, server;
};

static void connect_here(struct connection *c, bool ipv6)
{
	struct error err = {0};
	struct sockaddr_in6 address;
	socklen_t size = sizeof(address);

	*c = (struct connection){.here.ipv6 = ipv6};
	CHECK_EQ(web_address_listen(&c->here, &c->listener, &err), 0);
	CHECK_EQ(getsockname(c->listener, (struct sockaddr *)&address, &size), 0);
	c->client = socket(address.sin6_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(connect(c->client, (struct sockaddr *)&address, size), 0);
	size = sizeof(c->peer);
	c->server = accept(c->listener, (struct sockaddr *)&c->peer, &size);
	CHECK(c->server >= 0);
}

static void close_all(struct connection *c)
{
	close(c->server);
	close(c->listener);
	if (c->client >= 0)
		close(c->client);
}

static bool user_of(int fd, const struct connection *c, uid_t *user)
{
	return web_peer_user(fd, (const struct sockaddr *)&c->peer, &c->here, user);
}

static void the_owner_of_a_connection_is_found(void)
{
	int fd = web_peer_open();

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct connection c;
		uid_t user = 4711;

		connect_here(&c, ipv6);
		CHECK(user_of(fd, &c, &user));
		CHECK_EQ(user, getuid());
		close_all(&c);
	}
	close(fd);
}

/* The kernel reports root as the owner of a socket that its process has closed. */
static void a_closed_connection_belongs_to_no_user(void)
{
	int fd = web_peer_open();
	struct connection c;
	uid_t user;

	connect_here(&c, false);
	close(c.client);
	c.client = -1;
	CHECK(!user_of(fd, &c, &user));
	close_all(&c);
	close(fd);
}

static void another_user_is_reported(void)
{
	int fd = web_peer_open(), status;
	struct connection c;
	uid_t user;
	pid_t child;

	if (getuid())
		return;
	child = fork();
	if (!child) {
		/* Sockets belong to the user who makes them. */
		if (setgid(65534) || setuid(65534))
			_exit(77);
		connect_here(&c, false);
		_exit(!user_of(fd, &c, &user) || user != 65534);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
	close(fd);
}

int main(void)
{
	int fd = web_peer_open();

	if (fd < 0) {
		printf("1..0 # SKIP this kernel does not report the owners of connections\n");
		return 0;
	}
	close(fd);
	RUN(the_owner_of_a_connection_is_found);
	RUN(a_closed_connection_belongs_to_no_user);
	RUN(another_user_is_reported);
	return check_end();
}
