/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_server.h"

#include "base/limit.h"
#include "base/clock.h"
#include "web/microhttpd.h"
#include "web/web_asks.h"
#include "web/web_channel.h"
#include "web/web_clients.h"
#include "web/web_events.h"
#include "web/web_peer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TICK_MS 1000

struct web_server {
	const struct web_server_options *options;
	struct microhttpd http;
	struct MHD_Daemon *daemon;
	struct MHD_Response *page, *data; /* data NULL: none yet */
	struct web_events *events;
	struct web_asks *asks;
	struct web_clients clients;
	int peers; /* of web_peer.h; -1: owners are not known */
};

static void add_headers(const struct web_server *s, struct MHD_Response *r, const char *type)
{
	const char *const headers[][2] = {
	        {"Content-Type", type},
	        {"Content-Security-Policy", buf_text(&s->options->page.policy)},
	        {"X-Content-Type-Options", "nosniff"},
	        {"X-Frame-Options", "DENY"},
	        {"Cross-Origin-Resource-Policy", "same-origin"},
	        {"Cross-Origin-Opener-Policy", "same-origin"},
	        {"Referrer-Policy", "no-referrer"},
	        {"Cache-Control", "no-store"},
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		s->http.add_response_header(r, headers[i][0], headers[i][1]);
}

/* ---- requests ------------------------------------------------------------ */

static enum MHD_Result refuse_call(struct web_server *s, struct MHD_Connection *c, unsigned status,
                                   const char *reason, bool posts)
{
	struct buf text = {0};
	struct MHD_Response *r;
	enum MHD_Result done;

	buf_addf(&text, "%s\n", reason);
	r = s->http.create_response_from_buffer(text.size, text.data, MHD_RESPMEM_MUST_COPY);
	buf_done(&text);
	if (!r)
		return MHD_NO;
	add_headers(s, r, "text/plain; charset=utf-8");
	if (status == 405)
		s->http.add_response_header(r, "Allow", posts ? "POST" : "GET");
	s->http.add_response_header(r, "Connection", "close");
	done = s->http.queue_response(c, status, r);
	s->http.destroy_response(r);
	return done;
}

static enum MHD_Result refuse(struct web_server *s, struct MHD_Connection *c, unsigned status,
                              const char *reason)
{
	return refuse_call(s, c, status, reason, false);
}

static enum MHD_Result answer_events(struct web_server *s, struct MHD_Connection *c)
{
	struct MHD_Response *r = web_events_join(s->events, c);
	enum MHD_Result done;

	if (!r)
		return refuse(s, c, 503, "Too many pages wait for events.");
	add_headers(s, r, "text/event-stream");
	done = s->http.queue_response(c, 200, r);
	s->http.destroy_response(r);
	return done;
}

static enum MHD_Result answer(struct web_server *s, struct MHD_Connection *c, const char *path)
{
	if (!strcmp(path, "/"))
		return s->http.queue_response(c, 200, s->page);
	if (!strcmp(path, "/data") && s->data)
		return s->http.queue_response(c, 200, s->data);
	if (!strcmp(path, "/data"))
		return refuse(s, c, 503, "There is no data yet.");
	if (!strcmp(path, "/events"))
		return answer_events(s, c);
	return refuse(s, c, 404, "There is no such page.");
}

static enum MHD_Result count_host(void *ctx, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
	struct web_request *r = ctx;

	if (!strcasecmp(name, "Host") && !r->hosts++)
		r->host = value;
	return MHD_YES;
}

static struct web_client *client_of(const struct web_server *s, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
	        s->http.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* A request that the other process answers. */
static enum MHD_Result answer_asked(struct web_server *s, struct MHD_Connection *c,
                                    struct web_asked *asked)
{
	static const char *const types[] = {[WEB_ANSWER_DATA] = "application/octet-stream",
	                                    [WEB_ANSWER_TEXT] = "text/plain; charset=utf-8",
	                                    [WEB_ANSWER_JSON] = "application/json",
	                                    [WEB_ANSWER_PROTO] = "application/proto"};
	enum web_answer_type type;
	enum MHD_Result done;
	unsigned status;
	struct MHD_Response *r = web_asked_response(asked, &status, &type);

	add_headers(s, r, types[type <= WEB_ANSWER_PROTO ? type : WEB_ANSWER_DATA]);
	done = s->http.queue_response(c, status, r);
	s->http.destroy_response(r);
	return done;
}

static enum MHD_Result go_on(struct web_server *s, struct MHD_Connection *c,
                             struct web_asked *asked, const char *upload, size_t *upload_size)
{
	switch (web_asks_step(s->asks, asked, upload, upload_size)) {
	case WEB_ASKS_WAITS:
		return MHD_YES;
	case WEB_ASKS_TOO_LONG:
		return refuse(s, c, 413, "The request is longer than 64 KB.");
	case WEB_ASKS_TOO_MANY:
		return refuse(s, c, 503, "Too many requests wait for an answer.");
	case WEB_ASKS_ANSWERED:
		return answer_asked(s, c, asked);
	case WEB_ASKS_CLOSED:
		break;
	}
	return MHD_NO;
}

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* The token of "Authorization: Bearer TOKEN", else that of the address. */
static const char *token_of(const struct web_server *s, struct MHD_Connection *c, bool posts)
{
	static const char scheme[] = "Bearer ";
	const char *header =
	        posts ? s->http.lookup_connection_value(c, MHD_HEADER_KIND, "Authorization") : NULL;

	return header && begins_with(header, scheme)
	               ? header + strlen(scheme)
	               : s->http.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request)
{
	struct web_server *s = ctx;
	struct web_request r = {.method = method,
	                        .posts = s->options->interface && begins_with(url, WEB_INTERFACE)};
	const char *reason;
	unsigned status;

	if (*request)
		return go_on(s, c, *request, upload, upload_size);
	s->http.get_connection_values(c, MHD_HEADER_KIND, count_host, &r);
	r.token = token_of(s, c, r.posts);
	status = web_guard_check(&s->options->guard, &r, &reason);
	if (status)
		return refuse_call(s, c, status, reason, r.posts);
	if (client_of(s, c))
		web_clients_trust(&s->clients, client_of(s, c));
	if (!r.posts && !(s->options->asks && !strcmp(url, "/data")))
		return answer(s, c, url);
	*request = web_asks_begin(s->asks, c, url, r.posts);
	return MHD_YES;
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **request,
                         enum MHD_RequestTerminationCode why)
{
	struct web_server *s = ctx;

	if (*request)
		web_asks_forget(s->asks, *request);
	*request = NULL;
}

/* ---- connections --------------------------------------------------------- */

static enum MHD_Result on_accept(void *ctx, const struct sockaddr *peer, socklen_t size)
{
	const struct web_server *s = ctx;
	uid_t user;

	if (s->peers < 0)
		return MHD_YES;
	if (!web_peer_user(s->peers, peer, &s->options->guard.address, &user))
		return MHD_NO;
	for (size_t i = 0; i < WEB_USERS_MAX; i++)
		if (user == s->options->users[i])
			return MHD_YES;
	return MHD_NO;
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **client,
                          enum MHD_ConnectionNotificationCode what)
{
	struct web_server *s = ctx;
	const union MHD_ConnectionInfo *info;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		web_clients_end(&s->clients, *client);
		return;
	}
	info = s->http.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	*client = web_clients_begin(&s->clients, info ? info->connect_fd : -1,
	                            clock_ns(CLOCK_MONOTONIC));
}

/* ---- the channel --------------------------------------------------------- */

static int take_data(struct web_server *s, const struct web_message *m)
{
	struct MHD_Response *r = s->http.create_response_from_fd64(m->size, m->fd);

	if (!r) {
		close(m->fd);
		return -ENOMEM;
	}
	add_headers(s, r, "application/octet-stream");
	if (s->data)
		s->http.destroy_response(s->data); /* clients that still read it have it */
	s->data = r;
	web_events_tell(s->events, "update");
	return 0;
}

/* All messages that have come. -EPIPE: the other end is closed. */
static int take_messages(struct web_server *s)
{
	struct web_message m;
	int rc;

	while (!(rc = web_channel_receive(s->options->channel, &m, false))) {
		if (m.kind == WEB_MESSAGE_DATA && m.fd >= 0)
			rc = take_data(s, &m);
		else if (m.kind == WEB_MESSAGE_ANSWER)
			web_asks_answer(s->asks, &m);
		else if (m.kind == WEB_MESSAGE_END)
			web_events_tell(s->events, "end");
		else if (m.fd >= 0)
			close(m.fd);
		if (rc)
			return rc;
	}
	return rc == -EAGAIN ? 0 : rc;
}

/* ---- running ------------------------------------------------------------- */

static int wait_ms(const struct web_server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (s->http.get_timeout(s->daemon, &ms) == MHD_YES && ms < TICK_MS)
		return (int)ms;
	return TICK_MS;
}

static int serve(struct web_server *s, struct error *err)
{
	const union MHD_DaemonInfo *info =
	        s->http.get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd watched[] = {{.fd = s->options->channel, .events = POLLIN},
	                           {.fd = info ? info->epoll_fd : -1, .events = POLLIN}};
	int rc = 0;

	while (!rc) {
		if (poll(watched, 2, wait_ms(s)) < 0 && errno != EINTR)
			return error_set(err, errno, "poll: %s", strerror(errno));
		rc = take_messages(s);
		s->http.run(s->daemon);
		web_events_tick(s->events);
		web_clients_tick(&s->clients, clock_ns(CLOCK_MONOTONIC));
	}
	return rc == -EPIPE ? 0 : error_set(err, -rc, "the channel: %s", strerror(-rc));
}

static int begin(struct web_server *s, struct error *err)
{
	const struct buf *html = &s->options->page.html;
	int rc = microhttpd_load(&s->http, err);

	if (rc)
		return rc;
	s->events = web_events_new(&s->http);
	s->asks = web_asks_new(&s->http, s->options->channel);
	s->page =
	        s->http.create_response_from_buffer(html->size, html->data, MHD_RESPMEM_PERSISTENT);
	add_headers(s, s->page, "text/html; charset=utf-8");
	s->daemon = s->http.start_daemon(
	        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, on_accept, s, on_request, s,
	        MHD_OPTION_LISTEN_SOCKET, s->options->listener, MHD_OPTION_NOTIFY_CONNECTION,
	        on_connection, s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CLIENTS_MAX,
	        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)LIMIT_WEB_SILENT_S,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LIMIT_WEB_HEAD_BYTES,
	        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_END);
	return s->daemon ? 0 : error_set(err, EIO, "libmicrohttpd could not start a server");
}

static int tell_ready(const struct web_server *s, struct error *err)
{
	const struct web_message ready = {.kind = WEB_MESSAGE_READY,
	                                  .flags = s->peers < 0 ? WEB_OPEN_TO_ALL : 0};

	return web_channel_send(s->options->channel, &ready, NULL, 0, err);
}

static void end(struct web_server *s)
{
	if (s->daemon) {
		web_events_close(s->events);
		web_asks_close(s->asks);
		s->http.run(s->daemon);
		s->http.stop_daemon(s->daemon);
	}
	web_events_free(s->events);
	web_asks_free(s->asks);
	if (s->page)
		s->http.destroy_response(s->page);
	if (s->data)
		s->http.destroy_response(s->data);
	if (s->peers >= 0)
		close(s->peers);
}

int web_server_run(const struct web_server_options *o, struct error *err)
{
	struct web_server s = {.options = o, .peers = web_peer_open()};
	int rc = begin(&s, err);

	if (!rc)
		rc = tell_ready(&s, err);
	if (!rc)
		rc = serve(&s, err);
	end(&s);
	return rc;
}
