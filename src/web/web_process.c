/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_process.h"

#include "base/process/privileges.h"
#include "web/web_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_MS 2000 /* then it is killed */
#define LOOK_MS 5

/* ---- the process --------------------------------------------------------- */

static void ignore_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
}

/* The terminal is the caller's; a reader of its output does not wait for this process. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0)
		close(null);
}

static void tell_failure(const struct web_server_options *o, const struct error *err)
{
	const struct web_message failed = {.kind = WEB_MESSAGE_FAILED};

	web_channel_send(o->channel, &failed, err->text, strlen(err->text), NULL);
}

static _Noreturn void process(const struct web_server_options *o)
{
	struct error err = {0};
	int rc;

	ignore_signals();
	leave_terminal();
	prctl(PR_SET_NAME, "assay-web");
	privileges_renounce();
	rc = web_server_run(o, &err);
	if (rc)
		tell_failure(o, &err);
	_exit(rc != 0);
}

/* ---- its parent ---------------------------------------------------------- */

/* Closes the file of the message. */
static int read_failure(struct web_message *m, struct error *err)
{
	char text[sizeof(err->text)] = "";
	ssize_t got = m->fd < 0 ? 0 : pread(m->fd, text, sizeof(text) - 1, 0);

	if (m->fd >= 0)
		close(m->fd);
	return error_set(err, EIO, "%s", got > 0 ? text : "the server of the page has failed");
}

int web_process_failure(struct web_process *p, struct error *err)
{
	struct web_message m;

	if (web_channel_receive(p->channel, &m, true))
		return error_set(err, EIO, "the server of the page has exited");
	return read_failure(&m, err);
}

static int wait_ready(struct web_process *p, struct error *err)
{
	struct web_message m;

	if (web_channel_receive(p->channel, &m, true))
		return error_set(err, EIO, "the server of the page exited before it served");
	if (m.kind != WEB_MESSAGE_READY)
		return read_failure(&m, err);
	p->open_to_all = m.flags & WEB_OPEN_TO_ALL;
	return 0;
}

static int fork_server(struct web_process *p, struct web_server_options *s, struct error *err)
{
	int ends[2], rc = web_channel_open(ends, err);

	if (rc)
		return rc;
	p->pid = fork();
	if (!p->pid) {
		close(ends[0]);
		s->channel = ends[1];
		process(s);
	}
	close(ends[1]);
	p->channel = ends[0];
	if (p->pid < 0) {
		p->pid = 0;
		close(p->channel);
		return error_set(err, errno, "fork: %s", strerror(errno));
	}
	return wait_ready(p, err);
}

int web_process_start(struct web_process *p, const struct web_process_options *o, struct error *err)
{
	struct web_server_options s = {.guard.address = o->address,
	                               .users = {0, getuid(), o->caller, o->reader},
	                               .asks = o->asks,
	                               .interface = o->interface,
	                               .listener = -1};
	int rc = o->token ? 0 : web_token_make(&s.guard.token, err);

	*p = (struct web_process){0};
	if (o->token)
		s.guard.token = *o->token;
	if (!rc)
		rc = web_page_make(&s.page, o->viewer, o->viewer_size,
		                   &(struct web_page_options){.token = s.guard.token.text,
		                                              .live = o->live,
		                                              .asks = o->asks},
		                   err);
	if (!rc)
		rc = web_address_listen(&s.guard.address, &s.listener, err);
	if (!rc)
		rc = fork_server(p, &s, err);
	if (s.listener >= 0)
		close(s.listener);
	web_page_done(&s.page);
	web_address_url(&s.guard.address, &p->url);
	buf_addf(&p->url, "?token=%s", s.guard.token.text);
	if (rc)
		web_process_stop(p);
	return rc;
}

int web_process_publish(struct web_process *p, const struct buf *data, struct error *err)
{
	const struct web_message m = {.kind = WEB_MESSAGE_DATA};

	return web_channel_send(p->channel, &m, buf_text(data), data->size, err);
}

int web_process_finish(struct web_process *p, struct error *err)
{
	const struct web_message m = {.kind = WEB_MESSAGE_END};

	return web_channel_send(p->channel, &m, NULL, 0, err);
}

int web_process_ask(struct web_process *p, struct web_ask *ask, struct error *err)
{
	struct web_message m;

	if (web_channel_receive(p->channel, &m, true))
		return error_set(err, EIO, "the server of the page has exited");
	if (m.kind != WEB_MESSAGE_ASK)
		return read_failure(&m, err);
	return web_ask_read(ask, &m, err);
}

int web_process_answer(struct web_process *p, const struct web_ask *ask, unsigned status,
                       enum web_answer_type type, const struct buf *body, struct error *err)
{
	const struct web_message m = {.kind = WEB_MESSAGE_ANSWER,
	                              .id = ask->id,
	                              .status = (uint16_t)status,
	                              .type = (uint16_t)type};

	return web_channel_send(p->channel, &m, buf_text(body), body->size, err);
}

int web_process_fd(const struct web_process *p)
{
	return p->channel;
}

void web_process_stop(struct web_process *p)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};

	buf_done(&p->url);
	if (!p->pid)
		return;
	close(p->channel);
	for (int ms = 0; !waitpid(p->pid, NULL, WNOHANG); ms += LOOK_MS) {
		if (ms >= END_MS && kill(p->pid, SIGKILL))
			break;
		nanosleep(&pause, NULL);
	}
	p->pid = 0;
}
