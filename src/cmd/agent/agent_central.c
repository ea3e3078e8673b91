/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/agent/agent_central.h"

#include "base/clock.h"
#include "base/limit.h"
#include "base/memory/vec.h"
#include "base/process/privileges.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define GRACE_MS 1000 /* after the process's own limit, for its sentence */
/* The first byte of an answer. */
#define LINES 'l'
#define SENTENCE 's'

/* ---- the process ----------------------------------------------------------- */

typedef VEC(const struct store_central_option *) option_choice;

static size_t pattern_letters(const char *pattern)
{
	size_t count = 0;

	for (; *pattern; pattern++)
		count += *pattern != '*' && *pattern != '?';
	return count;
}

/* By name; the one that counts comes last. */
static int option_order(const void *a, const void *b)
{
	const struct store_central_option *x = *(const struct store_central_option *const *)a,
	                                  *y = *(const struct store_central_option *const *)b;
	size_t p = pattern_letters(x->machines), q = pattern_letters(y->machines);
	int order = strcmp(x->option, y->option);

	if (order)
		return order;
	if (p != q)
		return p < q ? -1 : 1;
	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return strcmp(x->value, y->value);
}

bool agent_central_is_text(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static int put_lines(const option_choice *chosen, struct buf *lines, struct error *err)
{
	for (size_t i = 0; i < chosen->count; i++) {
		const struct store_central_option *o = chosen->items[i];

		if (i + 1 < chosen->count && !strcmp(o->option, chosen->items[i + 1]->option))
			continue;
		if (!agent_central_is_text(o->option) || !agent_central_is_text(o->value) ||
		    strchr(o->option, '='))
			return error_set(err, EPROTO,
			                 "the central configuration has a text that is no option: "
			                 "%.60s = %.60s",
			                 o->option, o->value);
		buf_addf(lines, "%s = %s\n", o->option, o->value);
	}
	return 0;
}

static int choose_lines(const struct store_central *central, struct buf *lines, struct error *err)
{
	char host[256] = "";
	option_choice chosen = {0};
	int status;

	gethostname(host, sizeof(host) - 1);
	vec_each (o, &central->options)
		if (!sqlite3_strglob(o->machines, host))
			vec_push(&chosen, o);
	if (chosen.count)
		qsort(chosen.items, chosen.count, sizeof(*chosen.items), option_order);
	status = put_lines(&chosen, lines, err);
	vec_done(&chosen);
	return status;
}

/* It inherits descriptors of the agent: signals, the lock, the session, the metrics. */
static void leave_agent(int fd)
{
	const struct rlimit cpu = {LIMIT_CENTRAL_CPU_S, LIMIT_CENTRAL_CPU_S};
	sigset_t none;

	if (fd > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_CPU, &cpu);
	prctl(PR_SET_NAME, "assay-central");
}

static _Noreturn void central_process(const struct agent_central *c, int fd, pid_t parent)
{
	const struct store_server server = {.token_file = c->token_file, .ca_file = c->ca_file};
	struct store_central central;
	struct buf answer = {0};
	struct error err = {0};
	int status;

	leave_agent(fd);
	buf_putc(&answer, LINES);
	status = store_central_read(c->url, &server, privileges_renounce, &central, &err);
	/* Renouncing clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (!status)
		status = choose_lines(&central, &answer, &err);
	if (status) {
		buf_clear(&answer);
		buf_addf(&answer, "%c%s", SENTENCE, err.text);
	}
	_exit(write(fd, answer.data, answer.size) != (ssize_t)answer.size);
}

/* ---- the agent ------------------------------------------------------------- */

int agent_central_start(struct agent_central *c, struct error *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", strerror(errno));
	c->pid = fork();
	if (!c->pid)
		central_process(c, ends[1], parent);
	close(ends[1]);
	if (c->pid < 0) {
		c->pid = 0;
		close(ends[0]);
		return error_set(err, errno, "fork: %s", strerror(errno));
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	c->fd = ends[0];
	c->asked = true;
	c->deadline_ns = clock_ns(CLOCK_MONOTONIC) + (LIMIT_CENTRAL_MS + GRACE_MS) * MS;
	buf_clear(&c->lines);
	return 0;
}

int agent_central_fd(const struct agent_central *c)
{
	return c->asked ? c->fd : -1;
}

static int central_sentence(const struct agent_central *c, struct error *err)
{
	const char *answer = buf_text(&c->lines);
	size_t size = c->lines.size;

	if (size && *answer == LINES && !memchr(answer, 0, size))
		return 0;
	if (size > 1 && *answer == SENTENCE)
		return error_set(err, EIO, "%s", answer + 1);
	return error_set(err, EIO, "%s: the process that asks for it was killed", c->url);
}

int agent_central_take(struct agent_central *c, struct error *err)
{
	char bytes[4096];
	ssize_t got;
	int status;

	while ((got = read(c->fd, bytes, sizeof(bytes))) > 0 &&
	       c->lines.size <= LIMIT_CENTRAL_BYTES)
		buf_add(&c->lines, bytes, (size_t)got);
	if (got > 0)
		status = error_set(err, EFBIG,
		                   "%s: the central configuration of this machine has more than %d "
		                   "bytes",
		                   c->url, LIMIT_CENTRAL_BYTES);
	else if (!got)
		status = central_sentence(c, err);
	else if (errno != EAGAIN && errno != EINTR)
		status = error_set(err, errno, "read: %s", strerror(errno));
	else if (clock_ns(CLOCK_MONOTONIC) < c->deadline_ns)
		return -EAGAIN;
	else
		status = error_set(err, ETIMEDOUT, "%s: there is no answer after %d s", c->url,
		                   (int)(LIMIT_CENTRAL_MS / 1000));
	agent_central_stop(c);
	if (!status) {
		/* Without the first byte. */
		memmove(c->lines.data, c->lines.data + 1, c->lines.size);
		c->lines.size--;
	}
	return status;
}

/* The caller waits for it, with its other children. */
void agent_central_stop(struct agent_central *c)
{
	if (c->asked)
		close(c->fd);
	if (c->asked && c->pid)
		kill(c->pid, SIGKILL);
	c->asked = false;
}
