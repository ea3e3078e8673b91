/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sockets: three readers wait for messages over a Unix, a TCP and a UDP socket. A sender sends
 * one to each every 10 ms, in send_unix(), send_tcp() and send_udp().
 */
#include "truth.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define MESSAGES 80

static struct channel {
	const char *reader, *function;
	int from, to;
	char name[128];
} unix_channel = {"unix-reader", "send_unix", -1, -1, ""},
  tcp_channel = {"tcp-reader", "send_tcp", -1, -1, ""},
  udp_channel = {"udp-reader", "send_udp", -1, -1, ""};

static APART void receive(const struct channel *c)
{
	struct truth_mark from = truth_mark();
	char byte;

	must(recv(c->to, &byte, 1, 0) != 1, "recv");
	truth_waited(from, (struct truth_cause){"socket", c->name, "sender", c->function, NULL});
}

static APART void send_unix(void)
{
	must(send(unix_channel.from, "", 1, 0) != 1, "send");
}

static APART void send_tcp(void)
{
	must(send(tcp_channel.from, "", 1, 0) != 1, "send");
}

static APART void send_udp(void)
{
	must(send(udp_channel.from, "", 1, 0) != 1, "send");
}

static void *reader(void *argument)
{
	const struct channel *c = argument;

	truth_name(c->reader);
	for (int i = 0; i < MESSAGES; i++)
		receive(c);
	return NULL;
}

static void *sender(void *unused)
{
	truth_name("sender");
	for (int i = 0; i < MESSAGES; i++) {
		truth_sleep(10 * MS);
		send_unix();
		send_tcp();
		send_udp();
	}
	return unused;
}

static int bound(int type, struct sockaddr_in *address)
{
	socklen_t size = sizeof *address;
	int fd = socket(AF_INET, type, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET,
	                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	must(bind(fd, (struct sockaddr *)address, size), "bind");
	must(getsockname(fd, (struct sockaddr *)address, &size), "getsockname");
	return fd;
}

/* The inode, or the local address: `7|127.0.0.1:80`. */
static void name_channel(struct channel *c, const struct sockaddr_in *address)
{
	struct stat about;
	size_t used;

	must(fstat(c->to, &about), "fstat");
	snprintf(c->name, sizeof c->name, "%lu", (unsigned long)about.st_ino);
	used = strlen(c->name);
	if (address)
		snprintf(c->name + used, sizeof c->name - used, "|127.0.0.1:%u",
		         ntohs(address->sin_port));
}

static void connect_all(void)
{
	struct sockaddr_in address;
	int listener, pair[2], one = 1;

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	unix_channel.from = pair[0];
	unix_channel.to = pair[1];
	name_channel(&unix_channel, NULL);
	listener = bound(SOCK_STREAM, &address);
	must(listen(listener, 1), "listen");
	tcp_channel.from = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(tcp_channel.from, (struct sockaddr *)&address, sizeof address), "connect");
	setsockopt(tcp_channel.from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	tcp_channel.to = accept(listener, NULL, NULL);
	name_channel(&tcp_channel, &address);
	udp_channel.to = bound(SOCK_DGRAM, &address);
	udp_channel.from = socket(AF_INET, SOCK_DGRAM, 0);
	must(connect(udp_channel.from, (struct sockaddr *)&address, sizeof address), "connect");
	name_channel(&udp_channel, &address);
}

int main(void)
{
	pthread_t threads[4];

	truth_begin("sockets");
	connect_all();
	threads[0] = truth_start(reader, &unix_channel);
	threads[1] = truth_start(reader, &tcp_channel);
	threads[2] = truth_start(reader, &udp_channel);
	threads[3] = truth_start(sender, NULL);
	for (int i = 0; i < 4; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
