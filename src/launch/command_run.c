/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/command_run.h"

#include "base/clock.h"
#include "base/memory/buf.h"
#include "launch/command_child.h"
#include "launch/source.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Timeout(1) and other programs send a signal twice at once. */
#define AGAIN_NS UINT64_C(1000000000)

void command_environment_init(struct command_environment *e)
{
	*e = (struct command_environment){0};
	for (char **word = environ; *word; word++)
		vec_push(&e->words, *word);
}

void command_environment_done(struct command_environment *e)
{
	vec_each (word, &e->owned)
		free(*word);
	vec_done(&e->owned);
	vec_done(&e->words);
}

void command_environment_set(struct command_environment *e, const char *name, const char *value)
{
	size_t size = strlen(name), kept = 0;

	for (size_t i = 0; i < e->words.count; i++)
		if (strncmp(e->words.items[i], name, size) != 0 || e->words.items[i][size] != '=')
			e->words.items[kept++] = e->words.items[i];
	e->words.count = kept;
	if (!value)
		return;
	vec_push(&e->owned, xasprintf("%s=%s", name, value));
	vec_push(&e->words, *vec_last(&e->owned));
}

char *command_run_text(char *const words[])
{
	struct buf text = {0};

	for (; *words; words++)
		buf_addf(&text, "%s%s", text.size ? " " : "", *words);
	return text.data ? text.data : xstrdup("");
}

struct waiting {
	struct command_child *child;
	int signals; /* signalfd */
	int wakes;   /* of the source; 0: none */
	uint64_t asked_ns;
	int signal; /* the signal that ended the waiting; 0: none */
};

static void take_signal(struct waiting *w, const struct signalfd_siginfo *info)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	/* Signals from the terminal go to its whole foreground group, so also to the command. */
	if (info->ssi_signo == SIGCHLD || info->ssi_code == SI_KERNEL)
		return;
	if (w->asked_ns && now - w->asked_ns >= AGAIN_NS) {
		w->signal = (int)info->ssi_signo;
		return;
	}
	if (!w->asked_ns)
		w->asked_ns = now;
	kill(w->child->pid, (int)info->ssi_signo);
}

static int wait_for_signal(struct waiting *w, int wait_ms, struct error *err)
{
	struct pollfd p[] = {{.fd = w->signals, .events = POLLIN},
	                     {.fd = w->wakes, .events = POLLIN}};
	struct signalfd_siginfo info;
	ssize_t size;
	int n = poll(p, w->wakes ? 2 : 1, wait_ms);

	if (!n || (n < 0 && errno == EINTR) || (n > 0 && !p[0].revents))
		return 0;
	size = n < 0 ? n : read(w->signals, &info, sizeof(info));
	if (size == sizeof(info))
		take_signal(w, &info);
	else if (size >= 0 || errno != EINTR)
		return error_set(err, size < 0 ? errno : EIO,
		                 "the command cannot be waited for: %s",
		                 strerror(size < 0 ? errno : EIO));
	return 0;
}

/* `source` may be NULL. */
static int wait_for_end(struct source *source, struct waiting *w, struct error *err)
{
	int wait_ms = -1, rc = 0;

	while (!rc && !command_child_ended(w->child) && !w->signal) {
		if (source && source->ops->drain)
			rc = source->ops->drain(source, &wait_ms, err);
		if (!rc)
			rc = wait_for_signal(w, wait_ms, err);
	}
	return rc;
}

static int fork_child(struct command_child *child, char **command, struct source *source,
                      const sigset_t *mask, struct error *err)
{
	struct command_environment e;
	int rc;

	command_environment_init(&e);
	if (source->ops->environment)
		source->ops->environment(source, &e);
	vec_push(&e.words, NULL);
	rc = command_child_fork_in(child, command, e.words.items, mask, err);
	command_environment_done(&e);
	return rc;
}

static int run_child(char **command, struct source *source, struct command_run_result *result,
                     const sigset_t *mask, int signals, struct error *err)
{
	const struct source_ops *ops = source->ops;
	struct command_child child;
	struct waiting w = {.child = &child, .signals = signals, .wakes = source->wakes};
	int rc = fork_child(&child, command, source, mask, err);

	if (rc)
		return rc;
	if (ops->begin)
		rc = ops->begin(source, child.pid, err);
	if (!rc) {
		rc = command_child_start(&child, command[0], err);
		result->command_failed = rc != 0;
	}
	if (!rc)
		rc = wait_for_end(source, &w, err);
	if (!rc && ops->end)
		rc = ops->end(source, err);
	if (rc) {
		command_child_end(&child);
		return rc;
	}
	result->pid = child.pid;
	result->usage = child.usage;
	result->exit_status = child.ended ? child.status : -1;
	result->signal = w.signal;
	return 0;
}

int command_run_wait(struct command_child *child, struct command_run_result *result,
                     struct error *err)
{
	struct waiting w = {.child = child};
	sigset_t before;
	int rc;

	w.signals = command_signals_hold(&before, err);
	rc = w.signals < 0 ? w.signals : wait_for_end(NULL, &w, err);
	command_signals_release(w.signals, &before);
	*result = (struct command_run_result){.exit_status = child->ended ? child->status : -1,
	                                      .signal = w.signal};
	return rc;
}

int command_run(char **command, struct source *source, struct command_run_result *result,
                struct error *err)
{
	sigset_t before;
	int signals, rc;

	*result = (struct command_run_result){.exit_status = -1};
	signals = command_signals_hold(&before, err);
	rc = signals < 0 ? signals : run_child(command, source, result, &before, signals, err);
	command_signals_release(signals, &before);
	return rc;
}
