/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/control.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS 16
#define EVENTS 8 /* maximum number of events per call, since the rings must be read too */
#define BACKLOG 16
#define END_MS 3000 /* time limit for sending the last replies */
#define LISTENER UINT64_MAX

struct client {
	int fd; /* -1: free */
	uint64_t heard_ns;
	bool waits;     /* for the end */
	bool later;     /* its request is complete, and was deferred */
	bool answering; /* in hear() */
	struct buf in, out;
	size_t sent;
};

struct control {
	int listener, poll;
	control_hear_fn *hear;
	void *ctx;
	struct client clients[CLIENTS];
	uint64_t rounds; /* of serve(), which may be nested */
};

static int cannot(struct error *err, const struct session_registry *p, const char *name)
{
	return error_set(err, errno, "%s/%s.sock: %s", p->path, name, strerror(errno));
}

static int listen_there(struct control *c, const struct session_registry *place, const char *name,
                        struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = LISTENER};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	session_registry_socket(place, name, address.sun_path, sizeof(address.sun_path));
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	c->poll = epoll_create1(EPOLL_CLOEXEC);
	if (c->listener < 0 || c->poll < 0 ||
	    bind(c->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(c->listener, BACKLOG) || epoll_ctl(c->poll, EPOLL_CTL_ADD, c->listener, &event))
		return cannot(err, place, name);
	return 0;
}

int control_open(struct control **out, const struct session_registry *place, const char *name,
                 control_hear_fn *hear, void *ctx, struct error *err)
{
	struct control *c = xcalloc(1, sizeof(*c));
	int rc;

	c->hear = hear;
	c->ctx = ctx;
	for (size_t i = 0; i < CLIENTS; i++)
		c->clients[i].fd = -1;
	rc = listen_there(c, place, name, err);
	if (rc) {
		control_close(c);
		c = NULL;
	}
	*out = c;
	return rc;
}

int control_fd(const struct control *c)
{
	return c->poll;
}

/* ---- clients ------------------------------------------------------------- */

static void let_go(struct client *k)
{
	if (k->fd >= 0)
		close(k->fd); /* also removes it from the epoll set */
	buf_done(&k->in);
	buf_done(&k->out);
	*k = (struct client){.fd = -1};
}

static bool is_welcome(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && size == sizeof(peer) &&
	       (peer.uid == geteuid() || !peer.uid);
}

static bool has_asked(const struct client *k)
{
	return k->waits || k->later || k->answering;
}

/* A free place, or the place of the client that was silent for the longest time; NULL: all clients
 * have sent a request. */
static struct client *place_for(struct control *c)
{
	struct client *oldest = NULL;

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *k = &c->clients[i];

		if (k->fd < 0)
			return k;
		if (!has_asked(k) && (!oldest || k->heard_ns < oldest->heard_ns))
			oldest = k;
	}
	if (oldest)
		let_go(oldest);
	return oldest;
}

static void take_in_one(struct control *c, int fd)
{
	struct client *k = is_welcome(fd) ? place_for(c) : NULL;
	struct epoll_event event = {.events = EPOLLIN};

	if (k)
		event.data.u64 = (uint64_t)(k - c->clients);
	if (!k || epoll_ctl(c->poll, EPOLL_CTL_ADD, fd, &event)) {
		close(fd);
		return;
	}
	k->fd = fd;
	k->heard_ns = clock_ns(CLOCK_MONOTONIC);
}

static void take_in(struct control *c)
{
	for (int i = 0; i < BACKLOG; i++) {
		int fd = accept4(c->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		take_in_one(c, fd);
	}
}

static void watch(struct control *c, struct client *k, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.u64 = (uint64_t)(k - c->clients)};

	epoll_ctl(c->poll, EPOLL_CTL_MOD, k->fd, &event);
}

/* Sends as many bytes as the socket takes now; the rest later. */
static void say(struct control *c, struct client *k)
{
	while (k->sent < k->out.size) {
		ssize_t n = send(k->fd, k->out.data + k->sent, k->out.size - k->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			watch(c, k, EPOLLOUT);
			return;
		}
		if (n < 0)
			break;
		k->sent += (size_t)n;
	}
	let_go(k);
}

static void refuse(struct control_reply *reply, const struct error *err)
{
	reply->code = (uint64_t)err->code;
	reply->error = xasprintf("the request was not understood: %s", err->text);
}

static enum control_answer ask(struct control *c, struct client *k, struct control_reply *reply)
{
	enum control_answer when = CONTROL_NOW;
	struct control_request request;
	struct error err = {0};

	if (control_request_parse(&request, buf_text(&k->in), k->in.size, &err)) {
		refuse(reply, &err);
	} else {
		request.again = k->later;
		k->later = false;
		k->answering = true;
		when = c->hear(c->ctx, &request, reply);
		k->answering = false;
	}
	control_request_done(&request);
	return when;
}

static void answer(struct control *c, struct client *k)
{
	struct control_reply reply = {0};
	enum control_answer when = ask(c, k, &reply);

	k->later = when == CONTROL_LATER;
	k->waits = when == CONTROL_AT_END;
	if (!k->later)
		buf_done(&k->in);
	if (when == CONTROL_NOW)
		control_reply_write(&reply, &k->out);
	control_reply_done(&reply);
	/* A client sends one request, so the only further event is that it disconnects. */
	watch(c, k, when == CONTROL_NOW ? 0 : EPOLLRDHUP);
	if (when == CONTROL_NOW)
		say(c, k);
}

static void listen_to(struct control *c, struct client *k)
{
	char piece[4096];
	ssize_t n;

	while ((n = recv(k->fd, piece, sizeof(piece), 0)) > 0) {
		k->heard_ns = clock_ns(CLOCK_MONOTONIC);
		buf_add(&k->in, piece, (size_t)n);
		if (k->in.size > CONTROL_REQUEST_MAX ||
		    control_message_complete(k->in.data, k->in.size)) {
			answer(c, k);
			return;
		}
	}
	if (!n || (errno != EAGAIN && errno != EINTR))
		let_go(k);
}

/* A client did not wait for its answer. A request that changes the session is still executed. */
static void client_leaves(struct control *c, struct client *k)
{
	struct control_request request;
	struct error err = {0};
	bool only_asks = control_request_parse(&request, buf_text(&k->in), k->in.size, &err) ||
	                 request.verb == CONTROL_STATUS;

	control_request_done(&request);
	if (only_asks)
		let_go(k);
	else
		epoll_ctl(c->poll, EPOLL_CTL_DEL, k->fd, NULL);
}

/* Serves a client by its state, since the slot may have a new client since the event. */
static void serve_client(struct control *c, struct client *k)
{
	if (k->fd < 0 || k->answering)
		return; /* it disconnected in the same round, or is reported again after the answer
		         */
	if (k->waits)
		let_go(k); /* it did not wait; the end is reported to the next client */
	else if (k->later)
		client_leaves(c, k);
	else if (k->out.size)
		say(c, k);
	else
		listen_to(c, k);
}

static bool serve(struct control *c, int patience_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(c->poll, events, EVENTS, patience_ms);
	uint64_t round = ++c->rounds;

	/* After a nested call the events are old; epoll reports them again. */
	for (int i = 0; i < n && c->rounds == round; i++) {
		if (events[i].data.u64 == LISTENER)
			take_in(c);
		else
			serve_client(c, &c->clients[events[i].data.u64]);
	}
	return n > 0;
}

void control_serve(struct control *c)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (c->clients[i].later)
			answer(c, &c->clients[i]);
	serve(c, 0);
}

bool control_is_awaited(const struct control *c)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (c->clients[i].fd >= 0 && has_asked(&c->clients[i]))
			return true;
	return false;
}

/* ---- the end ------------------------------------------------------------- */

static bool anybody_listens(const struct control *c)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (c->clients[i].fd >= 0 && c->clients[i].out.size)
			return true;
	return false;
}

/*
 * The connection stays open after the last byte, since the name must be free before the client sees
 * its end.
 */
static void say_end(struct client *k)
{
	while (k->sent < k->out.size) {
		ssize_t n = send(k->fd, k->out.data + k->sent, k->out.size - k->sent, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			break;
		k->sent += (size_t)n;
	}
	buf_done(&k->out);
}

void control_end(struct control *c, const struct control_reply *last)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + END_MS * UINT64_C(1000000);

	control_serve(c);
	for (int i = 0; i < CLIENTS && serve(c, 0); i++)
		; /* requests that arrived since */
	for (size_t i = 0; i < CLIENTS; i++)
		if (c->clients[i].fd >= 0 && c->clients[i].waits)
			control_reply_write(last, &c->clients[i].out);
	while (anybody_listens(c) && clock_ns(CLOCK_MONOTONIC) < until) {
		for (size_t i = 0; i < CLIENTS; i++)
			if (c->clients[i].fd >= 0)
				say_end(&c->clients[i]);
		if (anybody_listens(c))
			usleep(2000);
	}
}

void control_close(struct control *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CLIENTS; i++)
		let_go(&c->clients[i]);
	if (c->poll >= 0)
		close(c->poll);
	if (c->listener >= 0)
		close(c->listener);
	free(c);
}
