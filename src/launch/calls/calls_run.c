/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/calls_run.h"

#include "base/clock.h"
#include "launch/calls/calls_watch.h"
#include "launch/source.h"
#include "launch/table_handout.h"

#include <inttypes.h>
#include <stdlib.h>

#define NS_A_MS 1000000u

/* The runtime in the command writes the tables, which are read at its end or at any time. */
struct calls_source {
	struct source source;
	const struct calls_run_options *options;
	struct calls_watch watch;
	uint64_t look_ns; /* time of the next look */
};

static void set_environment(struct source *s, struct command_environment *e)
{
	const struct calls_run_options *o = ((struct calls_source *)s)->options;
	const char *preload = getenv("LD_PRELOAD");
	char *all = preload && *preload ? xasprintf("%s:%s", o->library, preload)
	                                : xstrdup(o->library),
	     *rate;

	command_environment_set(e, "LD_PRELOAD", all);
	command_environment_set(e, "ASSAY_CALLS_DIR", o->directory);
	/* The variables of an outer 'assay calls' must not apply to this command. */
	command_environment_set(e, "ASSAY_CALLS_LIBRARIES", o->libraries ? "1" : NULL);
	if (o->libraries)
		command_environment_set(e, "LD_BIND_NOW", "1");
	rate = o->clock ? xstrdup("0") : o->rate ? xasprintf("%" PRIu64, o->rate) : NULL;
	if (rate)
		command_environment_set(e, "ASSAY_CALLS_RATE", rate);
	if (o->memory)
		command_environment_set(e, "ASSAY_CALLS_MEM", o->memory);
	if (o->filter)
		command_environment_set(e, "ASSAY_CALLS_FILTER", o->filter);
	free(rate);
	free(all);
}

static int command_begins(struct source *s, pid_t pid, struct error *err)
{
	table_handout_command(((struct calls_source *)s)->options->handout, pid);
	return 0;
}

/* Requests for tables come between two looks. */
static int threads_look(struct source *s, int *wait_ms, struct error *err)
{
	struct calls_source *c = (struct calls_source *)s;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	(void)err;
	if (now >= c->look_ns) {
		calls_watch_look(&c->watch);
		now = clock_ns(CLOCK_MONOTONIC);
		c->look_ns = now + (uint64_t)c->watch.wait_ms * NS_A_MS;
	}
	table_handout_step(c->options->handout);
	*wait_ms = (int)((c->look_ns - now) / NS_A_MS + 1);
	return 0;
}

static int threads_end(struct source *s, struct error *err)
{
	(void)err;
	calls_watch_look(&((struct calls_source *)s)->watch);
	return 0;
}

int calls_run(const struct calls_run_options *options, struct command_run_result *result,
              struct error *err)
{
	static const struct source_ops ops = {.environment = set_environment,
	                                      .begin = command_begins,
	                                      .drain = threads_look,
	                                      .end = threads_end};
	struct calls_source s = {.source = {&ops, table_handout_descriptor(options->handout)},
	                         .options = options,
	                         .watch.directory = options->directory};
	int rc = command_run(options->command, &s.source, result, err);

	calls_watch_done(&s.watch);
	return rc;
}
