/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags: records event tags of a command: each call with its time. */
#include "cmd/tags/tags.h"
#include "cmd/cli/print.h"

#include "base/text/plural.h"
#include "cmd/report/native_program.h"
#include "cmd/report/report_tags.h"
#include "cmd/run_command.h"
#include "cmd/cli/medium.h"
#include "cmd/session/record_beside.h"
#include "cmd/waits/waits_calls.h"
#include "cmd/report/tags_output.h"
#include "cmd/export/tags_trace.h"
#include "format/ctf/ctf.h"
#include "launch/tags/tags_files.h"
#include "launch/tags/tags_run.h"
#include "launch/tags/tags_runtime.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct tags_options {
	bool quiet, compress, wait, waits;
	const char *memory, *mode, *start, *output;
	struct report_options report;
	struct report_tags_options tags;
	struct report_request request;
	const char *native;
	struct program_sizes sizes; /* of --native */
};

#define AT(field) offsetof(struct tags_options, field)

const struct option tags_output_option_table[] = {
        {OPTION_STRING, 'o', "output", "DIR",
         "the trace written (default " TAGS_TRACE_DEFAULT "; an older one becomes "
         "DIR.old)",
         .offset = 0},
        {.kind = OPTION_END},
};

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is recorded"},
        {OPTION_STRING, 0, "memory", "MB",
         "memory for the events of each process (default 256; 32 to stop or wrap)",
         .details = "MB, or bytes with k, M or G. Memory is allocated in steps. When it is full, "
                    "new events are discarded and counted (--mode stream, stop), or the oldest "
                    "events are overwritten (--mode wrap).",
         .offset = AT(memory)},
        {OPTION_STRING, 0, "mode", "MODE",
         "stream: write all (default); stop: until full; wrap: the latest",
         .choices = "stream,stop,wrap",
         .details =
                 "stream: events are written to the trace while COMMAND runs; the trace may have "
                 "any length. stop: events stay in memory, and recording ends when it is full; "
                 "no other process disturbs COMMAND. wrap: as stop, but the oldest events are "
                 "overwritten: a flight "
                 "recorder.",
         .offset = AT(mode)},
        {OPTION_STRING, 0, "start", "WHEN",
         "off: record nothing until 'assay tags capture on' (default on)", .choices = "on,off",
         .details = "The program can also start and stop recording: assay_tags_start() and "
                    "assay_tags_stop().",
         .offset = AT(start)},
        {OPTION_FLAG, 0, "wait", NULL,
         "stop a thread while memory is full, in place of losing events",
         .details = "For --mode stream. The pause is in no function's time; the sum of all pauses "
                    "is printed. If assay is killed, threads continue after ten seconds at most.",
         .offset = AT(wait)},
        {OPTION_FLAG, 0, "waits", NULL,
         "also record why threads waited in these calls, and who woke them",
         .details =
                 "Records the switches and wake-ups of the whole machine in perf.data, as 'assay "
                 "record --waits' does, as root. After the report, a table has the calls in "
                 "which threads waited: the cause, and the thread that ended the wait. 'assay "
                 "waits perf.data " TAGS_TRACE_DEFAULT "' prints it again, and as JSON.",
         .offset = AT(waits)},
        {.kind = OPTION_GROUP, .help = "Output"},
        {.kind = OPTION_INCLUDE, .include = tags_output_option_table, .offset = AT(output)},
        {OPTION_FLAG, 0, "compress", NULL, "compress the trace; 'assay export --to ctf' expands it",
         .details = "assay reads a compressed trace as it is. Other readers of CTF need the "
                    "expanded one.",
         .offset = AT(compress)},
        {OPTION_FLAG, 'q', "quiet", NULL,
         "print no report and no closing line; write only the trace", .offset = AT(quiet)},
        {.kind = OPTION_GROUP, .help = "The report"},
        {OPTION_STRING, 0, "native", "PROGRAM",
         "the program built without triggers: compare the sizes of code and data",
         .offset = AT(native)},
        {.kind = OPTION_INCLUDE, .include = report_option_table, .offset = AT(report)},
        {.kind = OPTION_INCLUDE, .include = report_tags_option_table, .offset = AT(tags)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct tags_options *o = p;

	o->output = TAGS_TRACE_DEFAULT;
	o->mode = "stream";
	o->start = "on";
	report_options_defaults(&o->report);
}

static enum assay_tags_mode mode_of(const char *word)
{
	return !strcmp(word, "stop")   ? ASSAY_TAGS_STOP
	       : !strcmp(word, "wrap") ? ASSAY_TAGS_WRAP
	                               : ASSAY_TAGS_STREAM;
}

static void tell_running(const struct tags_run_result *result, const char *directory)
{
	size_t running = result->tags.running;

	print_message(
	        "%zu %s still running, and recorded so far; later events are in %s, for 'assay "
	        "tags get'",
	        running, plural(running, "process is", "processes are"), directory);
}

/* Prints messages on the recording, and the report. Returns the exit status. */
static int report(const struct tags_options *o, char *const argv[], const char *directory,
                  const struct tags_run_result *result)
{
	struct error err = {0};

	if (!result->tags.processes) {
		vec_each (note, &result->tags.notes)
			print_message("%s", *note);
		tags_runtime_why(argv, directory, result->run.exit_status, &err);
		return command_fail(1, "tags: %s", err.text);
	}
	run_tell_refused(result->refused);
	if (result->no_switches)
		print_message("waiting time is not separate: %s", result->no_switches);
	if (result->tags.running)
		tell_running(result, directory);
	if (!result->tags.events && !strcmp(o->start, "off"))
		print_message(
		        "nothing was recorded, because recording was not started: 'assay tags "
		        "capture on', or assay_tags_start() in the program");
	if (o->quiet)
		return 0;
	tags_output_tell(&result->tags, o->output);
	/* If the reader of the output closes it, the cleanup must still be done. */
	signal(SIGPIPE, SIG_IGN);
	return report_tags_recorded(o->output, &o->request, &o->tags, &o->report.style);
}

/* The calls in which threads waited; as JSON and on a page only 'assay waits' has them. */
static int show_waits(const struct tags_options *o)
{
	if (o->quiet || o->report.json || o->report.nested || medium_is_page(&o->report.style))
		return 0;
	return waits_calls_print(LOAD_DEFAULT, o->output, &o->report.style, "tags");
}

/* Shows that the capture is active, as the lamp of a device does. */
static void tell_began(void)
{
	print_message("capture has begun");
}

static int record(const struct tags_options *o, char **argv, const char *memory,
                  const char *directory)
{
	struct tags_run_options run = {.command = argv,
	                               .directory = directory,
	                               .output = o->output,
	                               .memory = *memory ? memory : NULL,
	                               .mode = mode_of(o->mode),
	                               .start_off = !strcmp(o->start, "off"),
	                               .compress = o->compress,
	                               .wait = o->wait,
	                               .began = o->quiet || !strcmp(o->start, "off") ? NULL
	                                                                             : tell_began};
	struct tags_run_result result;
	struct error err = {0};
	struct record_beside waits = {0};
	int status, failed, waits_failed, rc;

	if (o->waits) {
		status = record_beside_begin(&waits, "tags", LOAD_DEFAULT, NULL);
		if (status) {
			tags_session_end(directory);
			return status;
		}
	}
	rc = tags_run(&run, &result, &err);
	waits_failed = record_beside_end(&waits);
	if (rc && result.run.command_failed)
		status = run_cannot(&cmd_tags, argv[0], &err);
	else if (rc && result.run.exit_status == -1 && !result.run.signal)
		status = command_fail(1, "tags: %s", err.text);
	else
		status = run_exit_status(result.run.exit_status, result.run.signal);
	if (!rc) {
		failed = report(o, argv, directory, &result);
		if (!failed && o->waits)
			failed = waits_failed ? waits_failed : show_waits(o);
		run_end_unread();
		status = status ? status : failed;
	} else if (!result.run.command_failed && !status) {
		status = command_fail(1, "tags: %s", err.text);
	}
	if (!tags_session_end(directory) && !result.tags.running)
		print_message("unwritten events are in %s: 'assay tags get -o DIR' "
		              "writes them to DIR",
		              directory);
	tags_run_result_done(&result);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	struct tags_options *o = p;
	char *directory = NULL, memory[RUN_MEMORY_MAX] = "";
	struct error err = {0};
	int status;

	if (*argv && !strcmp(*argv, "--"))
		argv++;
	if (!*argv)
		return command_fail(2, "tags: needs a command to run (assay tags -- COMMAND), or "
		                       "a subcommand: list, get, capture, trace, import, names, "
		                       "flags");
	if (o->wait && mode_of(o->mode) != ASSAY_TAGS_STREAM)
		return command_fail(2,
		                    "tags: --wait is for --mode stream: in mode %s no other "
		                    "process frees memory",
		                    o->mode);
	if (o->memory && run_memory("tags", o->memory, memory))
		return 2;
	status = report_tags_check("tags", &o->report, &o->tags, &o->request);
	if (status)
		return status;
	if (o->native && native_program_sizes(&o->sizes, argv[0], o->native, &err))
		return command_fail(2, "tags: %s", err.text);
	o->request.sizes = o->native ? &o->sizes : NULL;
	if (ctf_writer_check(o->output, &err))
		return command_fail(1, "tags: %s", err.text);
	if (tags_session_begin(&directory, &err))
		return command_fail(1, "tags: %s", err.text);
	status = record(o, argv, memory, directory);
	free(directory);
	return status;
}

static const struct command *const subcommands[] = {&tags_list,      &tags_get,    &tags_capture,
                                                    &cmd_tags_trace, &tags_import, &tags_names,
                                                    &tags_flags,     NULL};

const struct command cmd_tags = {
        .name = "tags",
        .synopsis = "[OPTIONS] [--] COMMAND [ARG...]",
        .summary = "record each entry and exit of a command's functions, with the time",
        .description =
                "Runs COMMAND, which was built with the compiler plugin assay_tags.so, and "
                "records an event at the entry and the exit of each function, and at each inline "
                "tag. Children are included. When COMMAND has exited, "
                "its trace is in a directory in the Common Trace Format, and a summary by "
                "function is printed: elapsed time, net time, calls, longest, average and "
                "shortest. The exit status is that of COMMAND.\n\n"
                "'assay tags flags' prints the flags for the build. A program that is built with "
                "them records its first events also when it runs without assay tags, until its "
                "memory is full; list, get and capture work on it too. Programs that were built "
                "without the plugin run unchanged.\n\n"
                "Waiting and preemption of threads are recorded if the kernel "
                "allows it ('assay doctor'), and are separate from the times of functions. "
                "Events that did not fit into memory are counted and reported.",
        .examples = "gcc $(assay tags flags --names prog.names) -o prog prog.c\n"
                    "    a program with triggers\n"
                    "assay tags -- ./prog\n    its functions' times\n"
                    "assay tags trace\n    its code path\n"
                    "assay tags --mode wrap --memory 1G -- ./server\n"
                    "    the last events before its end\n"
                    "assay tags --wait --compress -- ./prog\n"
                    "    all events, in a small trace\n"
                    "assay tags --start off -- ./server\n"
                    "    record no events until 'assay tags capture on'\n",
        .options = options,
        .options_size = sizeof(struct tags_options),
        .defaults = defaults,
        .run = run,
        .stop_early = true,
        .keeps_dashes = true,
        .subcommands = subcommands,
};
