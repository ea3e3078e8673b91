/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record: samples while a command runs, and writes a perf.data file. */
#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "base/text/shell_word.h"
#include "cmd/session/record_command.h"
#include "cmd/session/record_options.h"
#include "cmd/session/record_runs.h"
#include "cmd/session/session_command.h"
#include "cmd/cli/option.h"
#include "cmd/cli/output_file.h"
#include "cmd/cli/print.h"
#include "output/text/table.h"
#include "session/session.h"
#include "session/sinks/file_sink.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct record_command_options {
	struct record_options record;
	const char *output;
	bool quiet, calibrate;
	uint64_t repeat; /* OPTION_NO_COUNT: once, into `output` itself */
};

#define AT(field) offsetof(struct record_command_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = record_option_table, .offset = AT(record)},
        {.kind = OPTION_GROUP, .help = "Output"},
        {OPTION_STRING, 'o', "output", "FILE",
         "the output file (default perf.data; an older one becomes FILE.old)",
         .offset = AT(output)},
        {OPTION_COUNT, 0, "repeat", "N", "run COMMAND N times; the files are FILE.1 to FILE.N",
         .details = "For 'assay diff', which needs several runs of each side. COMMAND's standard "
                    "input is empty. A run that fails ends the series. With --duration each run "
                    "waits for the end of COMMAND before the next one.",
         .offset = AT(repeat)},
        {OPTION_FLAG, 'q', "quiet", NULL, "print no progress and no closing line, only errors",
         .offset = AT(quiet)},
        {OPTION_FLAG, 0, "calibrate", NULL,
         "first measure by how much sampling slows this machine (1 to 2 s)",
         .details = "A fixed piece of work runs repeatedly, in turn without and with the sampling "
                    "that was requested. The report's heading shows the slowdown, with its "
                    "interval. The recorder's own CPU time is not in it: the line 'observer' "
                    "shows that.",
         .offset = AT(calibrate)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct record_command_options *o = p;

	record_options_default(&o->record);
	o->output = "perf.data";
	o->repeat = OPTION_NO_COUNT;
}

static void show_progress(void *ctx, const struct session_progress *p)
{
	/* A short run needs no progress line. */
	if (p->elapsed_ns < 2000000000)
		return;
	print_progress("%.0f s, %.1f MB (Ctrl-C ends)", (double)p->elapsed_ns / 1e9,
	               (double)p->bytes / 1e6);
}

/* Sentences that were printed before sampling began. */
static VEC(char *) remarks;

static void print_remark(void *ctx, const char *sentence)
{
	vec_push(&remarks, xstrdup(sentence));
	print_message("%s", sentence);
}

static bool was_printed(const char *sentence)
{
	vec_each (remark, &remarks)
		if (!strcmp(*remark, sentence))
			return true;
	return false;
}

/* ---- signals before sampling begins -------------------------------------- */

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};

#define END_SIGNALS (sizeof(end_signals) / sizeof(*end_signals))

static volatile pid_t recorder_pid; /* children have the handler, too, until they exec */

/* Async-signal-safe. The signal then ends the process, as it would without a handler. */
static void on_early_signal(int number)
{
	static const char text[] = "assay: record: a signal came before sampling began: nothing "
	                           "was recorded\n";

	if (getpid() == recorder_pid && write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(128 + number);
	raise(number);
}

/* Signals that are ignored, as by nohup, stay ignored. */
static void exchange_handlers(void (*from)(int), void (*to)(int))
{
	struct sigaction action, other = {.sa_handler = to};

	other.sa_flags = to == SIG_DFL ? 0 : (int)(SA_RESETHAND | SA_NODEFER);
	for (size_t i = 0; i < END_SIGNALS; i++)
		if (!sigaction(end_signals[i], NULL, &action) && action.sa_handler == from)
			sigaction(end_signals[i], &other, NULL);
}

static void explain_early_signals(void)
{
	recorder_pid = getpid();
	exchange_handlers(SIG_DFL, on_early_signal);
}

static void sampling_begins(void *ctx)
{
	exchange_handlers(on_early_signal, SIG_DFL);
}

static void print_result(const struct record_command_options *o, const struct session_result *r,
                         bool tty)
{
	struct buf hint = {0}, text = {0};

	if (tty)
		print_progress_end();
	vec_each (note, &r->notes)
		if (!was_printed(*note))
			print_message("%s", *note);
	if (r->lost_records)
		print_message("%" PRIu64 " %s dropped, since the buffers were full; --memory "
		              "makes them larger",
		              r->lost_records,
		              plural(r->lost_records, "record was", "records were"));
	if (strcmp(o->output, "perf.data") != 0) {
		buf_putc(&hint, ' ');
		shell_word_add(&hint, o->output);
	}
	text_time(&text, (int64_t)r->elapsed_ns);
	buf_puts(&text, " recorded, ");
	text_bytes(&text, r->bytes);
	buf_addf(&text, " in %s, recorder's own CPU time ", o->output);
	text_time(&text, (int64_t)r->observer_cpu_ns);
	print_message("%s; read it with 'assay report%s'", buf_text(&text), buf_text(&hint));
	buf_done(&hint);
	buf_done(&text);
}

/* Prints the error at once, then waits for a command that still runs. */
static int failed(const struct record_command_options *o, const struct session_options *so,
                  struct session_result *r, const struct error *err)
{
	bool runs = r->command.pid != 0;
	int status;

	if (so->progress && r->status.now_ns)
		print_progress_end();
	command_fail(1, "record: %s", err->text);
	if (r->command_failed) /* as a shell does */
		return err->code == ENOENT ? 127 : 126;
	status = record_command_status("record", r, o->quiet);
	if (runs && !o->quiet)
		print_message("the command ended with exit status %d; the recording of it is "
		              "incomplete",
		              status);
	return 1;
}

static int record(const struct record_command_options *o, struct session_options *so)
{
	struct session_result result;
	struct error err = {0};
	int status;

	explain_early_signals();
	so->sink = file_sink_new(o->output, false);
	if (session_record(so, &result, &err)) {
		status = failed(o, so, &result, &err);
	} else {
		if (!o->quiet)
			print_result(o, &result, so->progress != NULL);
		status = record_command_status("record", &result, o->quiet);
	}
	session_result_done(&result);
	return status;
}

/* Reports a failure of a run. Returns the exit status; 0: the series continues. */
static int check_run(const struct record_command_options *o, uint64_t number,
                     struct record_run_end end)
{
	if (record_runs_interrupted())
		return end.status;
	if (end.lost_records)
		print_message("run %" PRIu64 ": %" PRIu64
		              " %s dropped, since the buffers were full; --memory makes them "
		              "larger",
		              number, end.lost_records,
		              plural(end.lost_records, "record was", "records were"));
	if (end.recorder_end)
		return command_fail(
		        1, "record: run %" PRIu64 ": the recorder was killed%s%s", number,
		        WIFSIGNALED(end.recorder_end) ? ": " : "",
		        WIFSIGNALED(end.recorder_end) ? strsignal(WTERMSIG(end.recorder_end)) : "");
	if (end.status && !end.failed)
		print_message("run %" PRIu64 ": the command ended with exit status %d, so the "
		              "series ends",
		              number, end.status);
	return end.status;
}

static int repeat(const struct record_command_options *o, char **argv)
{
	const bool tty = !o->quiet && isatty(STDERR_FILENO);
	uint64_t done = 0;
	int status = 0;

	record_runs_begin();
	while (done < o->repeat && !status && !record_runs_interrupted()) {
		char *file = xasprintf("%s.%" PRIu64, o->output, done + 1);
		const struct record_run one = {.options = &o->record,
		                               .command_name = "record",
		                               .output = file,
		                               .argv = argv,
		                               .quiet = o->quiet || done};
		struct record_run_end end = {.status = 1, .failed = true};

		if (tty)
			print_progress("run %" PRIu64 " of %" PRIu64, done + 1, o->repeat);
		if (!session_command_leave_alone("record", file))
			end = record_runs_one(&one);
		if (tty)
			print_progress_end();
		status = check_run(o, done + 1, end);
		done += end.complete;
		free(file);
	}
	record_runs_end();
	if (!o->quiet && done)
		print_message("%" PRIu64 " %s recorded, in %s.1 to %s.%" PRIu64, done,
		              plural(done, "run was", "runs were"), o->output, o->output, done);
	return status ? status : done < o->repeat ? 130 : 0;
}

static int check_repeat(const struct record_command_options *o, bool command)
{
	if (!o->repeat)
		return command_fail(2, "record: --repeat needs a number of runs of 1 or more");
	if (o->calibrate)
		return command_fail(2, "record: --repeat and --calibrate cannot be combined");
	return command ? 0
	               : command_fail(2, "record: --repeat needs a command to run: assay record "
	                                 "--repeat 5 -- COMMAND");
}

static int run(void *p, int argc, char **argv)
{
	const struct record_command_options *o = p;
	bool dashes = argc && !strcmp(argv[0], "--");
	struct error err = {0};
	proc_ids pids = {0};
	struct session_options so = {
	        .output = o->output,
	        .progress = !o->quiet && isatty(2) ? show_progress : NULL,
	        .remark = o->quiet ? NULL : print_remark,
	        .begins = sampling_begins,
	        .calibrate = o->calibrate,
	};
	int status;

	/*
	 * The word may come from an empty variable in a script: sampling the machine until Ctrl-C
	 * would be wrong.
	 */
	if (dashes && argc == 1)
		return command_fail(2, "record: no COMMAND follows '--'");
	argv += dashes;
	argc -= dashes;
	if (o->repeat != OPTION_NO_COUNT) {
		status = check_repeat(o, argc != 0);
		return status ? status : repeat(o, argv);
	}
	so.command = argc ? argv : NULL;
	status = record_options_use(&o->record, "record", argc ? argv[0] : NULL, &so, &pids);
	if (!status && output_file_measured(o->output, FILE_PERF_DATA, &err))
		status = command_fail(1, "record: %s", err.text);
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
                "Samples all running code, kernel and user, and writes a perf.data file for assay, "
                "perf and similar tools. With COMMAND it samples COMMAND and its children; with -a "
                "the whole machine while COMMAND runs; with -p the given processes while "
                "COMMAND runs. Without any of these it samples the whole machine until Ctrl-C. "
                "--duration ends sampling earlier.\n\n"
                "Even processes that live for two milliseconds are named, with their symbols: "
                "fork, "
                "exec, "
                "exit and mappings are followed. Every context switch is recorded, so that the "
                "report can account for all the time there was.\n\n"
                "A signal before sampling begins ends assay with a message; a file that is there "
                "then is a recording without samples. "
                "A recorder that is killed leaves a file that can be read up to its last flush, at "
                "most eight seconds before; COMMAND continues. If the file cannot be written any "
                "more, as on a "
                "full disk, the recording ends with exit status 1, and COMMAND continues.",
        .examples =
                "assay record -a -- sleep 10\n    the machine for ten seconds\n"
                "assay record -p 4711 -- sleep 10\n    one process for ten seconds\n"
                "assay record -g -- make -j8\n    a build, with call chains\n"
                "assay record --repeat 5 -o new.data -- ./program\n"
                "    five runs, for 'assay diff'\n"
                "assay record -a --calibrate --duration 10s\n    and by how much sampling slows "
                "the "
                "machine\n"
                "assay record --off-cpu -g -p 4711\n    what a process waits for, until Ctrl-C\n"
                "assay record -e page-faults -d -- ./program\n    the memory that the program "
                "touches first\n",
        .options = options,
        .options_size = sizeof(struct record_command_options),
        .defaults = defaults,
        .run = run,
        .stop_early = true,
        .keeps_dashes = true,
};
