/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record: sample while something runs, into a perf.data file. */
#include "cmd/record_options.h"
#include "cmd/session_command.h"
#include "output/table.h"
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct record_command_options {
	struct record_options record;
	const char *output;
	bool quiet;
};

#define AT(field) offsetof(struct record_command_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = record_option_table, .offset = AT(record)},
        {.kind = OPTION_GROUP, .help = "Output"},
        {.kind = OPTION_STRING,
         .letter = 'o',
         .name = "output",
         .argument = "FILE",
         .help = "the file written (default perf.data; an older one becomes FILE.old)",
         .offset = AT(output)},
        {.kind = OPTION_FLAG,
         .letter = 'q',
         .name = "quiet",
         .help = "no progress and no closing line; errors alone",
         .offset = AT(quiet)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct record_command_options *o = p;

	record_options_default(&o->record);
	o->output = "perf.data";
}

static void show_progress(void *ctx, const struct session_progress *p)
{
	/* A short run is over before anyone wonders whether it lives. */
	if (p->elapsed_ns < 2000000000)
		return;
	fprintf(stderr, "\r\033[K%.0f s, %.1f MB (Ctrl-C ends)", (double)p->elapsed_ns / 1e9,
	        (double)p->bytes / 1e6);
	fflush(stderr);
}

static void print_result(const struct record_command_options *o, const struct session_result *r,
                         bool tty)
{
	struct buf hint = {0};

	if (tty)
		fputs("\r\033[K", stderr);
	vec_each (note, &r->notes)
		fprintf(stderr, "assay: %s\n", *note);
	if (r->lost_records)
		fprintf(stderr,
		        "assay: %" PRIu64 " records were dropped, the buffers were full; --memory "
		        "makes them larger\n",
		        r->lost_records);
	if (r->command_goes_on)
		fputs("assay: the command did not end when asked to, and goes on\n", stderr);
	if (strcmp(o->output, "perf.data") != 0) {
		buf_putc(&hint, ' ');
		text_path(&hint, o->output);
	}
	fprintf(stderr,
	        "assay: %.2f s recorded, %.2f MB in %s, recorder's own CPU time %.1f ms; read it "
	        "with 'assay report%s'\n",
	        (double)r->elapsed_ns / 1e9, (double)r->bytes / 1e6, o->output,
	        (double)r->observer_cpu_ns / 1e6, buf_text(&hint));
	buf_done(&hint);
}

static int exit_status(const struct session_result *r)
{
	if (r->exit_status < 0)
		return 0;
	return WIFSIGNALED(r->exit_status) ? 128 + WTERMSIG(r->exit_status)
	                                   : WEXITSTATUS(r->exit_status);
}

static int record(const struct record_command_options *o, const struct session_options *so)
{
	struct session_result result;
	struct error err = {0};
	int status;

	if (session_record(so, &result, &err)) {
		status = command_fail(1, "record: %s", err.text);
		if (result.command_failed) /* as a shell says it */
			status = err.code == ENOENT ? 127 : 126;
	} else {
		if (!o->quiet)
			print_result(o, &result, so->progress != NULL);
		status = exit_status(&result);
	}
	session_result_done(&result);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	const struct record_command_options *o = p;
	proc_ids pids = {0};
	struct session_options so = {
	        .output = o->output,
	        .command = argc ? argv : NULL,
	        .progress = !o->quiet && isatty(2) ? show_progress : NULL,
	};
	int status = record_options_use(&o->record, "record", argc ? argv[0] : NULL, &so, &pids);

	if (!status)
		status = session_command_leave_alone("record", o->output);
	if (!status)
		status = record(o, &so);
	vec_done(&pids);
	return status;
}

const struct command cmd_record = {
        .name = "record",
        .synopsis = "[OPTIONS] [-- COMMAND [ARG...]]",
        .summary = "sample the machine, a command or a process",
        .description =
                "Samples what runs, kernel and user, and writes a perf.data file that assay, perf "
                "and their friends read. With COMMAND it follows COMMAND and its children, with -a "
                "the whole machine meanwhile; without either it samples the whole machine until "
                "Ctrl-C.\n\n"
                "Processes that live for two milliseconds are named, with their symbols: fork, "
                "exec, "
                "exit and mappings are followed. Every context switch is recorded, so that the "
                "report can account for all the time there was.\n\n"
                "A recorder that is killed leaves a file that can be read up to its last flush, at "
                "most four seconds before.",
        .examples =
                "assay record -a -- sleep 10\n    what the machine does for ten seconds\n"
                "assay record -g -- make -j8\n    a build, with call chains\n"
                "assay record --off-cpu -g -p 4711\n    what a process waits for, until Ctrl-C\n"
                "assay record -e page-faults -d -- ./program\n    which memory it touches first\n",
        .options = options,
        .options_size = sizeof(struct record_command_options),
        .defaults = defaults,
        .run = run,
        .stop_early = true,
};
