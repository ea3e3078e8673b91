/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_run.h"

#include "launch/source.h"
#include "launch/table_handout.h"
#include "launch/tags/tags_switches.h"

#include <stdlib.h>
#include <sys/resource.h>

#define BUSY_MS 1
#define IDLE_MS 10
/* If permitted: the draining process must not wait for the processes that it drains. */
#define NICE (-10)

struct tags_source {
	struct source source;
	const struct tags_run_options *options;
	struct tags_run_result *result;
	struct tags_collect *collect;
	struct tags_switches *switches;
	struct table_handout *handout;
	bool began;           /* options->began() was called */
	struct error trouble; /* an error of the trace; code 0: none */
};

/*
 * The default memory holds the events of the busiest thread for a few tenths of a second. It is
 * used only if draining falls behind.
 */
#define STREAM_MEMORY "256M"

static const char *mode_word(enum assay_tags_mode mode)
{
	return mode == ASSAY_TAGS_STOP ? "stop" : mode == ASSAY_TAGS_WRAP ? "wrap" : "stream";
}

static struct tags_source *source_of(struct source *s)
{
	return (struct tags_source *)s;
}

static void set_environment(struct source *s, struct command_environment *e)
{
	const struct tags_run_options *o = source_of(s)->options;

	command_environment_set(e, "ASSAY_TAGS_DIR", o->directory);
	command_environment_set(e, "ASSAY_TAGS_MODE", mode_word(o->mode));
	/* The variables of an outer 'assay tags' must not apply to this command. */
	command_environment_set(e, "ASSAY_TAGS_START", o->start_off ? "off" : NULL);
	command_environment_set(e, "ASSAY_TAGS_WAIT", o->wait ? "1" : NULL);
	if (o->memory)
		command_environment_set(e, "ASSAY_TAGS_MEM", o->memory);
	else if (o->mode == ASSAY_TAGS_STREAM && !getenv("ASSAY_TAGS_MEM"))
		command_environment_set(e, "ASSAY_TAGS_MEM", STREAM_MEMORY);
}

static int begin(struct source *s, pid_t pid, struct error *err)
{
	struct tags_source *r = source_of(s);
	struct error why = {0};

	table_handout_command(r->handout, pid);
	if (tags_switches_open(&r->switches, pid, &why))
		r->result->no_switches = xstrdup(why.text);
	tags_collect_watch(r->collect, r->options->directory, r->options->mode == ASSAY_TAGS_STREAM,
	                   r->switches);
	setpriority(PRIO_PROCESS, 0, NICE);
	return 0;
}

static int drain(struct source *s, int *wait_ms, struct error *err)
{
	struct tags_source *r = source_of(s);
	bool busy = false;

	*wait_ms = IDLE_MS;
	table_handout_step(r->handout);
	if (!r->trouble.code && tags_collect_step(r->collect, &busy, &r->trouble) &&
	    !r->trouble.code)
		r->trouble.code = 1;
	if (!r->began && r->options->began && tags_collect_is_recording(r->collect)) {
		r->began = true;
		r->options->began();
	}
	if (busy)
		*wait_ms = BUSY_MS;
	return 0;
}

static int finish(struct tags_source *r, struct error *err)
{
	char *command = command_run_text(r->options->command);
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
	static const struct source_ops ops = {
	        .environment = set_environment, .begin = begin, .drain = drain};
	struct tags_source r = {.source.ops = &ops, .options = options, .result = result};
	int rc, priority;

	*result = (struct tags_run_result){.run.exit_status = -1};
	r.collect = tags_collect_new(options->output);
	r.handout = table_handout_open(&tag_rings_kind, options->directory);
	r.source.wakes = table_handout_descriptor(r.handout);
	if (options->compress)
		tags_collect_compress(r.collect);
	priority = getpriority(PRIO_PROCESS, 0);
	rc = command_run(options->command, &r.source, &result->run, err);
	setpriority(PRIO_PROCESS, 0, priority);
	if (!rc)
		rc = finish(&r, err);
	result->refused = table_handout_refused(r.handout);
	tags_collect_free(r.collect);
	table_handout_close(r.handout);
	tags_switches_close(r.switches);
	return rc;
}

void tags_run_result_done(struct tags_run_result *result)
{
	tags_collect_result_done(&result->tags);
	free(result->no_switches);
}
