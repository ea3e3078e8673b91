/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags capture --qemu: runs QEMU with the capture device, and reports on its guest. */
#include "cmd/cli/print.h"
#include "cmd/run_command.h"
#include "cmd/tags/tags.h"
#include "format/ctf/names_file.h"
#include "launch/qemu/qemu_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define EXACT "-icount shift=0,sleep=off -rtc clock=vm"

struct capturing {
	const struct tags_qemu_options *options;
	struct report_request request;
	struct qemu_run_options run;
	struct qemu_run_result result;
	struct qemu_trace trace;
	char *device, memory[RUN_MEMORY_MAX];
};

static bool is(const char *given, const char *word)
{
	return given && !strcmp(given, word);
}

/* Checks the names file before QEMU starts. */
static int check_names(const char *path, struct error *err)
{
	struct tag_names *names = tag_names_new();
	int rc = names_file_read(names, path, err);

	tag_names_free(names);
	return rc;
}

static int check_start(const struct tags_qemu_options *o)
{
	const char *start = o->start;

	if (!start || is(start, "on") || is(start, "off"))
		return 0;
	if (strncmp(start, "tag:", 4) || !start[4])
		return command_fail(2, "tags capture: --start needs on, off or tag:NAME, not '%s'",
		                    start);
	if (!o->names && !o->symbols)
		return command_fail(2, "tags capture: --start %s needs --names FILE", start);
	return 0;
}

static int check_end(const struct tags_qemu_options *o)
{
	if (!o->end)
		return 0;
	if (strncmp(o->end, "tag:", 4) || !o->end[4])
		return command_fail(2, "tags capture: --end needs tag:NAME, not '%s'", o->end);
	if (!o->names && !o->symbols)
		return command_fail(2, "tags capture: --end %s needs --names FILE", o->end);
	return 0;
}

static int check_untagged(const struct tags_qemu_options *o)
{
	bool untagged = o->calls || o->sample;
	char *end;

	if (o->calls && o->sample)
		return command_fail(2, "tags capture: --calls and --sample exclude each other");
	if (untagged && !o->symbols)
		return command_fail(2,
		                    "tags capture: --%s needs --symbols FILE, the functions of "
		                    "the guest",
		                    o->calls ? "calls" : "sample");
	if (untagged && o->names)
		return command_fail(2, "tags capture: --names is for guests with tags; --symbols "
		                       "has the names");
	if (!untagged && o->symbols)
		return command_fail(2, "tags capture: --symbols needs --calls or --sample N");
	if (o->sample &&
	    (*o->sample < '1' || *o->sample > '9' || (strtoull(o->sample, &end, 10), *end)))
		return command_fail(2,
		                    "tags capture: --sample needs a number of instructions, not "
		                    "'%s'",
		                    o->sample);
	return 0;
}

/* The values of the device's options. */
static int set_device_options(struct capturing *c)
{
	const struct tags_qemu_options *o = c->options;
	bool bounded = o->mode && !is(o->mode, "stream");

	if (o->memory && run_memory("tags capture", o->memory, c->memory))
		return 2;
	if (o->memory && !bounded)
		return command_fail(2, "tags capture: --memory is for --mode stop and wrap: a "
		                       "stream has no limit");
	c->run.names = o->names;
	c->run.mode = o->calls ? "calls" : NULL;
	c->run.sample = o->sample;
	c->run.symbols = o->symbols;
	c->run.start = o->start;
	c->run.end = o->end;
	c->run.clock = o->clock;
	c->run.stop = !bounded ? NULL : is(o->mode, "wrap") ? "wrap" : "full";
	c->run.memory = !bounded ? NULL : o->memory ? c->memory : "32M";
	return check_start(o) || check_end(o) ? 2 : check_untagged(o);
}

/* Prints the words that are missing for an exact time. */
static void advise(const struct capturing *c)
{
	const struct qemu_command *q = &c->run.command;

	if (q->kvm_or_tcg)
		print_message("QEMU may run this guest with KVM, and the capture device sees "
		              "nothing then; write '-accel tcg' for the accelerators");
	if (q->system && !q->icount && !is(c->options->clock, "host"))
		print_message("the guest's time is not exact without these words of QEMU: " EXACT);
	if (!c->options->names && !c->options->symbols)
		print_message("without --names FILE the report has numbers in place of names");
	if (is(c->options->start, "off"))
		print_message("recording is off; 'assay tags capture on %s' starts it",
		              c->trace.path);
}

static int prepare(struct capturing *c, char **words)
{
	const struct tags_qemu_options *o = c->options;
	struct error err = {0};
	int status = report_tags_check("tags capture", &o->report, &o->tags, &c->request);

	if (!status)
		status = set_device_options(c);
	if (status)
		return status;
	c->run.words = words;
	if (qemu_command_read(&c->run.command, words, &err))
		return command_fail(2, "tags capture: %s", err.text);
	if ((o->names && check_names(o->names, &err)) ||
	    qemu_device_find(o->device, &c->device, &err) ||
	    qemu_trace_begin(&c->trace, o->output, &err))
		return command_fail(1, "tags capture: %s", err.text);
	c->run.device = c->device;
	c->run.trace = c->trace.path;
	return 0;
}

/* The reason why there is nothing to report. */
static int nothing(const struct capturing *c, int status)
{
	if (!c->result.trace)
		return command_fail(1,
		                    "tags capture: QEMU ended with status %d before the capture "
		                    "device had a trace; its message is above. The device needs "
		                    "QEMU 4.2 or later, built with TCG plugins",
		                    status);
	if (is(c->options->start, "off"))
		return command_fail(1, "tags capture: nothing was recorded, because recording was "
		                       "not started");
	if (is(c->options->mode, "wrap") && status > 128)
		return command_fail(1, "tags capture: QEMU was killed, and with --mode wrap the "
		                       "events are written when it exits; use --mode stream or "
		                       "stop");
	if (c->options->symbols)
		return command_fail(1,
		                    "tags capture: QEMU ended with status %d, and the guest ran "
		                    "no function of %s",
		                    status, c->options->symbols);
	return command_fail(
	        1,
	        "tags capture: QEMU ended with status %d, and the guest ran no trigger%s; "
	        "build it with 'assay tags flags --trigger nop'",
	        status,
	        c->options->start ? ", or the tag that starts the recording did not occur" : "");
}

/* Prints the report. Returns the exit status. */
static int report(const struct capturing *c, int status)
{
	const struct tags_qemu_options *o = c->options;
	const char *path = c->trace.path;

	if (!c->result.trace || !c->result.events)
		return nothing(c, status);
	if (o->quiet)
		return 0;
	if (o->output)
		print_message("the trace is in %s; 'assay report %s' sums it up, 'assay tags "
		              "trace %s' shows its code path",
		              path, path, path);
	/* If the reader of the output closes it, the trace must still be removed. */
	signal(SIGPIPE, SIG_IGN);
	return report_tags_recorded(path, &c->request, &o->tags, &o->report.style);
}

static int capture(struct capturing *c)
{
	struct error err = {0};
	int status, failed;
	int rc = qemu_run(&c->run, &c->result, &err);

	if (rc && c->result.run.command_failed)
		return run_cannot(&tags_capture, c->run.words[0], &err);
	if (rc)
		return command_fail(1, "tags capture: %s", err.text);
	status = run_exit_status(c->result.run.exit_status, c->result.run.signal);
	failed = report(c, status);
	return status ? status : failed;
}

int tags_qemu(const struct tags_qemu_options *o, char **words)
{
	struct capturing c = {.options = o};
	int status;

	if (*words && !strcmp(*words, "--"))
		words++;
	if (!*words)
		return command_fail(2, "tags capture: --qemu needs a command to run (assay tags "
		                       "capture --qemu -- qemu-system-x86_64 ...)");
	status = prepare(&c, words);
	if (!status) {
		advise(&c);
		status = capture(&c);
		run_end_unread();
	}
	qemu_trace_end(&c.trace);
	free(c.device);
	return status;
}
