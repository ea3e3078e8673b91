/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_metrics.h"

#include "base/memory/xalloc.h"
#include "base/process/privileges.h"
#include "web/microhttpd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define CLIENTS 8
#define CLIENT_SECONDS 10
#define HEAD_BYTES ((size_t)16384)
#define ANSWER_MS 5000 /* of the parent */

/* ---- the process ----------------------------------------------------------- */

struct serving {
	struct microhttpd http;
	struct web_address address;
	int listener, channel;
	char text[WEB_METRICS_MAX];
};

static enum MHD_Result answer(struct serving *s, struct MHD_Connection *c, unsigned status,
                              size_t size)
{
	struct MHD_Response *r =
	        s->http.create_response_from_buffer(size, s->text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	s->http.add_response_header(r, "Content-Type", TEXT_TYPE);
	s->http.add_response_header(r, "X-Content-Type-Options", "nosniff");
	done = s->http.queue_response(c, status, r);
	s->http.destroy_response(r);
	return done;
}

static enum MHD_Result refuse(struct serving *s, struct MHD_Connection *c, unsigned status,
                              const char *why)
{
	snprintf(s->text, sizeof(s->text), "%s\n", why);
	return answer(s, c, status, strlen(s->text));
}

/* The text of the parent; <= 0: none. */
static ssize_t ask(struct serving *s)
{
	struct pollfd p = {.fd = s->channel, .events = POLLIN};

	while (recv(s->channel, s->text, sizeof(s->text), MSG_DONTWAIT) > 0)
		; /* an answer that came too late */
	if (send(s->channel, "", 1, MSG_NOSIGNAL) != 1 || poll(&p, 1, ANSWER_MS) != 1)
		return 0;
	return recv(s->channel, s->text, sizeof(s->text), MSG_DONTWAIT);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_size, void **state)
{
	struct serving *s = ctx;
	const char *host = s->http.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	ssize_t size;

	if (!host || !web_address_is_host(&s->address, host))
		return refuse(s, c, 403, "the Host of the request is not this server");
	if (strcmp(method, "GET") != 0)
		return refuse(s, c, 405, "only GET is supported");
	if (strcmp(url, "/metrics") != 0)
		return refuse(s, c, 404, "there is /metrics only");
	size = ask(s);
	return size > 0 ? answer(s, c, 200, (size_t)size)
	                : refuse(s, c, 503, "the agent does not answer");
}

static int serve(struct serving *s)
{
	struct MHD_Daemon *daemon = s->http.start_daemon(
	        MHD_USE_EPOLL, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, s->listener,
	        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT,
	        (unsigned)CLIENT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_BYTES,
	        MHD_OPTION_END);
	const union MHD_DaemonInfo *info =
	        daemon ? s->http.get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	struct pollfd watched[] = {{.fd = s->channel},
	                           {.fd = info ? info->epoll_fd : -1, .events = POLLIN}};
	MHD_UNSIGNED_LONG_LONG ms;

	if (!info)
		return 1;
	while (!(watched[0].revents & (POLLHUP | POLLERR))) {
		bool timed = s->http.get_timeout(daemon, &ms) == MHD_YES && ms < INT32_MAX;

		poll(watched, 2, timed ? (int)ms : -1);
		s->http.run(daemon);
	}
	return 0;
}

static _Noreturn void process(struct serving *s)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "assay-metrics");
	privileges_renounce();
	_exit(serve(s));
}

/* ---- its parent ------------------------------------------------------------ */

static int fork_process(struct web_metrics *m, struct serving *s, struct error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "socketpair: %s", strerror(errno));
	s->channel = ends[1];
	s->address = m->address;
	m->pid = fork();
	if (!m->pid) {
		close(ends[0]);
		process(s);
	}
	close(ends[1]);
	m->channel = ends[0];
	if (m->pid > 0)
		return 0;
	m->pid = 0;
	close(m->channel);
	return error_set(err, errno, "fork: %s", strerror(errno));
}

int web_metrics_start(struct web_metrics *m, const struct web_address *a, struct error *err)
{
	struct serving *s = xcalloc(1, sizeof(*s));
	int rc = microhttpd_load(&s->http, err);

	*m = (struct web_metrics){.address = *a};
	s->listener = -1;
	if (!rc)
		rc = web_address_listen(&m->address, &s->listener, err);
	if (!rc)
		rc = fork_process(m, s, err);
	if (s->listener >= 0)
		close(s->listener);
	free(s);
	return rc;
}

int web_metrics_fd(const struct web_metrics *m)
{
	return m->pid ? m->channel : -1;
}

int web_metrics_answer(struct web_metrics *m, const char *text, size_t size)
{
	char request;

	if (recv(m->channel, &request, 1, MSG_DONTWAIT) != 1)
		return errno == EAGAIN ? 0 : -EPIPE;
	if (size > WEB_METRICS_MAX)
		size = WEB_METRICS_MAX;
	return send(m->channel, text, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -EPIPE : 0;
}

void web_metrics_stop(struct web_metrics *m)
{
	if (!m->pid)
		return;
	close(m->channel);
	kill(m->pid, SIGKILL);
	waitpid(m->pid, NULL, 0);
	*m = (struct web_metrics){0};
}
