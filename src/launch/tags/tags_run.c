/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_run.h"

#include "base/memory/buf.h"
#include "launch/tags/tags_switches.h"

#include <stdlib.h>
#include <sys/resource.h>

#define BUSY_MS 1
#define IDLE_MS 10
#define NICE (-10) /* where it is allowed: who drains must not wait for those whom it drains */

struct running {
	const struct tags_run_options *options;
	struct tags_run_result *result;
	struct tags_collect *collect;
	struct tags_switches *switches;
	struct error trouble; /* with the trace; its code is 0 as long as there is none */
};

/* Taken as far as draining falls behind: some tenths of a second of the busiest thread. */
#define STREAM_MEMORY "256M"

static const char *mode_word(enum assay_tags_mode mode)
{
	return mode == ASSAY_TAGS_STOP ? "stop" : mode == ASSAY_TAGS_WRAP ? "wrap" : "stream";
}

static void environment_make(struct command_environment *e, const struct tags_run_options *o)
{
	command_environment_init(e);
	command_environment_set(e, "ASSAY_TAGS_DIR", o->directory);
	command_environment_set(e, "ASSAY_TAGS_MODE", mode_word(o->mode));
	/* What this run is not asked for is not to come from an outer one. */
	command_environment_set(e, "ASSAY_TAGS_START", o->start_off ? "off" : NULL);
	if (o->memory)
		command_environment_set(e, "ASSAY_TAGS_MEM", o->memory);
	else if (o->mode == ASSAY_TAGS_STREAM && !getenv("ASSAY_TAGS_MEM"))
		command_environment_set(e, "ASSAY_TAGS_MEM", STREAM_MEMORY);
}

static int ready(void *ctx, pid_t pid, struct error *err)
{
	struct running *r = ctx;
	struct error why = {0};

	if (tags_switches_open(&r->switches, pid, &why))
		r->result->no_switches = xstrdup(why.text);
	tags_collect_watch(r->collect, r->options->directory, r->options->mode == ASSAY_TAGS_STREAM,
	                   r->switches);
	setpriority(PRIO_PROCESS, 0, NICE);
	return 0;
}

static int meanwhile(void *ctx, int *wait_ms, struct error *err)
{
	struct running *r = ctx;
	bool busy = false;

	*wait_ms = IDLE_MS;
	if (!r->trouble.code && tags_collect_step(r->collect, &busy, &r->trouble) &&
	    !r->trouble.code)
		r->trouble.code = 1;
	if (busy)
		*wait_ms = BUSY_MS;
	return 0;
}

/* The command as it was typed. */
static char *command_text(char **words)
{
	struct buf text = {0};

	for (; *words; words++)
		buf_addf(&text, "%s%s", text.size ? " " : "", *words);
	return text.data ? text.data : xstrdup("");
}

static int finish(struct running *r, struct error *err)
{
	char *command = command_text(r->options->command);
	int rc;

	if (r->trouble.code)
		rc = error_set(err, r->trouble.code, "%s", r->trouble.text);
	else
		rc = tags_collect_end(r->collect, command, &r->result->tags, err);
	free(command);
	return rc;
}

int tags_run(const struct tags_run_options *options, struct tags_run_result *result,
             struct error *err)
{
	struct command_environment environment;
	struct running r = {.options = options, .result = result};
	struct command_run run = {.command = options->command,
	                          .environment = &environment,
	                          .ready = ready,
	                          .meanwhile = meanwhile,
	                          .ctx = &r};
	int rc, priority;

	*result = (struct tags_run_result){.run.exit_status = -1};
	r.collect = tags_collect_new(options->output);
	environment_make(&environment, options);
	priority = getpriority(PRIO_PROCESS, 0);
	rc = command_run(&run, &result->run, err);
	setpriority(PRIO_PROCESS, 0, priority);
	command_environment_done(&environment);
	if (!rc)
		rc = finish(&r, err);
	tags_collect_free(r.collect);
	tags_switches_close(r.switches);
	return rc;
}

void tags_run_result_done(struct tags_run_result *result)
{
	tags_collect_result_done(&result->tags);
	free(result->no_switches);
}
