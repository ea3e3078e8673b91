/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/calls_run.h"

#include "base/clock.h"
#include "base/vec.h"
#include "session/command_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define AGAIN_NS UINT64_C(1000000000) /* timeout(1) and others send a signal twice, at once */

struct environment {
	VEC(char *) words; /* NULL at the end */
	VEC(char *) owned;
};

static void environment_done(struct environment *e)
{
	vec_each (word, &e->owned)
		free(*word);
	vec_done(&e->owned);
	vec_done(&e->words);
}

static void environment_set(struct environment *e, const char *name, const char *value)
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

static void environment_make(struct environment *e, const struct calls_run_options *o)
{
	const char *preload = getenv("LD_PRELOAD");
	char *all =
	        preload && *preload ? xasprintf("%s:%s", o->library, preload) : xstrdup(o->library);

	*e = (struct environment){0};
	for (char **word = environ; *word; word++)
		vec_push(&e->words, *word);
	environment_set(e, "LD_PRELOAD", all);
	environment_set(e, "ASSAY_CALLS_DIR", o->directory);
	/* What this run is not asked for is not to come from an outer one. */
	environment_set(e, "ASSAY_CALLS_LIBRARIES", o->libraries ? "1" : NULL);
	if (o->libraries)
		environment_set(e, "LD_BIND_NOW", "1");
	if (o->memory)
		environment_set(e, "ASSAY_CALLS_MEM", o->memory);
	if (o->filter)
		environment_set(e, "ASSAY_CALLS_FILTER", o->filter);
	vec_push(&e->words, NULL);
	free(all);
}

struct waiting {
	struct command_child *child;
	int signals; /* signalfd */
	uint64_t asked_ns;
	int signal; /* that ended the waiting; 0 */
};

static void take_signal(struct waiting *w, const struct signalfd_siginfo *info)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	/* The terminal's go to all of its foreground, the command too. */
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

static int wait_for_end(struct waiting *w, struct error *err)
{
	struct signalfd_siginfo info;
	ssize_t size;

	while (!command_child_ended(w->child) && !w->signal) {
		size = read(w->signals, &info, sizeof(info));
		if (size == sizeof(info))
			take_signal(w, &info);
		else if (size >= 0 || errno != EINTR)
			return error_set(err, size < 0 ? errno : EIO,
			                 "the command cannot be waited for: %s",
			                 strerror(size < 0 ? errno : EIO));
	}
	return 0;
}

static int run_child(const struct calls_run_options *o, struct calls_run_result *result,
                     const sigset_t *mask, int signals, struct error *err)
{
	struct command_child child;
	struct waiting w = {.child = &child, .signals = signals};
	struct environment environment;
	int rc;

	environment_make(&environment, o);
	rc = command_child_fork_in(&child, o->command, environment.words.items, mask, err);
	environment_done(&environment);
	if (rc)
		return rc;
	rc = command_child_start(&child, o->command[0], err);
	result->command_failed = rc != 0;
	if (!rc)
		rc = wait_for_end(&w, err);
	if (rc) {
		command_child_end(&child);
		return rc;
	}
	result->exit_status = child.ended ? child.status : -1;
	result->signal = w.signal;
	return 0;
}

int calls_run(const struct calls_run_options *options, struct calls_run_result *result,
              struct error *err)
{
	sigset_t before;
	int signals, rc;

	*result = (struct calls_run_result){.exit_status = -1};
	signals = command_signals_hold(&before, err);
	rc = signals < 0 ? signals : run_child(options, result, &before, signals, err);
	command_signals_release(signals, &before);
	return rc;
}
