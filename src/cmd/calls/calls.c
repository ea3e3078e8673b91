/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls: counts the calls of a command by call path. */
#include "cmd/calls/calls.h"
#include "cmd/calls/calls_check.h"
#include "cmd/cli/output_file.h"
#include "cmd/cli/print.h"

#include "base/text/plural.h"
#include "cmd/report/calls_output.h"
#include "cmd/report/native_program.h"
#include "cmd/run_command.h"
#include "cmd/cli/medium.h"
#include "cmd/session/record_beside.h"
#include "cmd/waits/waits_calls.h"
#include "launch/calls/calls_run.h"
#include "launch/calls/calls_runtime.h"
#include "launch/calls/calls_uncounted.h"
#include "launch/calls/kernel_calls.h"
#include "launch/program_file.h"
#include "launch/table_handout.h"
#include "source/runtime/runtime_owner.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RATE_OWN UINT64_MAX
/* Samples are interrupts, which the kernel's tracer traces, too. The counts need none. */
#define KERNEL_WAITS_HZ "49"

struct calls_options {
	bool libraries, quiet, check, waits;
	const char *filter, *memory, *output;
	const char *time, *native;
	struct program_sizes sizes; /* of --native */
	uint64_t rate;              /* samples a second; RATE_OWN: the runtime's own choice */
	const char *kernel;         /* NULL: not given; "": all functions, or those before "--" */
	struct calls_output_options report;
};

struct calls_command_kernel_functions {
	VEC(const char *) names;
	VEC(char *) owned;
};

#define AT(field) offsetof(struct calls_options, field)

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is counted"},
        {OPTION_FLAG, 0, "libraries", NULL,
         "also count calls into libraries that are not instrumented",
         .details = "Calls that instrumented code makes through the PLT or GOT are counted and "
                    "timed under the path that makes them. Functions that return twice or look at "
                    "their caller cannot be timed: they are only counted, and the report "
                    "lists them. Libraries are bound at start (LD_BIND_NOW).",
         .offset = AT(libraries)},
        {OPTION_STRING, 0, "filter", "PATTERNS",
         "only functions or images with these names; !PATTERN excludes",
         .details =
                 "Globs separated by commas, for names of functions and of files: 'parse_*', "
                 "'libx.so*,!x_hash'. Of several that match, the last one decides. Names are "
                 "complete; C++ names have no parameters and no arguments of templates: "
                 "'space::Box::put'. The time of an excluded function counts as its "
                 "caller's, and so does the time of its hooks, 50 to 100 ns per call; exclude "
                 "the most frequent functions with the compiler "
                 "(-finstrument-functions-exclude-function-list). Reports mention that functions "
                 "were excluded.",
         .offset = AT(filter)},
        {OPTION_STRING, 0, "memory", "MB",
         "memory limit for the table of each process (default 256)",
         .details = "MB, or bytes with k, M or G. The table grows as paths are added. When it is "
                    "full, new paths are counted as (other) below the nearest existing path, "
                    "and the report mentions it.",
         .offset = AT(memory)},
        {OPTION_STRING, 0, "kernel", "[FUNCTION,...]",
         "count the kernel's calls instead: all, or those below FUNCTIONs",
         .details = "Counts and times the functions that the kernel runs for COMMAND and its "
                    "children, with the function tracer of the kernel; interrupts are separate. "
                    "FUNCTIONs are globs, and may also be words before the \"--\". Needs "
                    "root and a kernel with CONFIG_FUNCTION_GRAPH_TRACER. COMMAND need not be "
                    "instrumented.",
         .offset = AT(kernel)},
        {OPTION_FLAG, 0, "waits", NULL,
         "also record why threads waited in these calls, and who woke them",
         .details =
                 "Records the switches and wake-ups of the whole machine in perf.data, as 'assay "
                 "record --waits' does, as root. After the report, a table has the calls in "
                 "which threads waited: the cause, and the thread that ended the wait. 'assay "
                 "waits perf.data " CALLS_FILE "' prints it again, and as JSON. With --kernel the "
                 "calls are those of the kernel.",
         .offset = AT(waits)},
        {.kind = OPTION_GROUP, .help = "How times are measured"},
        {OPTION_STRING, 0, "time", "HOW", "sampled (default), or all: each call reads the clock",
         .choices = "sampled,all",
         .details = "sampled: while a thread calls functions often, its CPU time is sampled, and "
                    "each sample counts for the call path that runs; otherwise the clock is read. "
                    "all: the clock is read at each entry and exit. Its cost is subtracted, but "
                    "times of calls shorter than a microsecond are biased, because a processor "
                    "hides a part of the cost. Counts are exact with both.",
         .offset = AT(time)},
        {OPTION_COUNT, 'F', "freq", "HZ",
         "samples per second of CPU time (default: as many as take 2.5 % of it)",
         .offset = AT(rate)},
        {OPTION_FLAG, 0, "check", NULL,
         "then run COMMAND five times more with and without counting, and compare",
         .details =
                 "The sum of all nets should be the CPU time of the program if its hooks do "
                 "nothing. The difference is printed with its interval. COMMAND must do the same "
                 "work in each run; the standard output of these runs is discarded.",
         .offset = AT(check)},
        {OPTION_STRING, 0, "native", "PROGRAM",
         "the program built without -finstrument-functions: compare sizes and, with --check, time",
         .details = "The report has the sizes of both: text, data, bss. With --check it gets the "
                    "arguments of COMMAND, and runs in turn with the others. Hooks that "
                    "do nothing still take time, 1 to 4 ns a call and more where they prevent "
                    "inlining. This time is in net, and is printed.",
         .offset = AT(native)},
        {.kind = OPTION_GROUP, .help = "Output"},
        {OPTION_STRING, 'o', "output", "FILE",
         "the output file (default " CALLS_FILE "; an older one becomes FILE.old)",
         .offset = AT(output)},
        {OPTION_FLAG, 'q', "quiet", NULL,
         "print no report and no closing line; write only the file", .offset = AT(quiet)},
        {.kind = OPTION_INCLUDE, .include = calls_output_option_table, .offset = AT(report)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct calls_options *o = p;

	o->output = CALLS_FILE;
	o->time = "sampled";
	o->rate = RATE_OWN;
	calls_output_defaults(&o->report);
}

/* Prints hints: the filter matched no function, or the directory is full. */
static void hint(const struct calls_options *o, const struct call_paths *paths,
                 const char *directory)
{
	uint64_t calls = 0;

	vec_each (p, &paths->processes)
		calls += call_process_calls(p);
	if (o->filter && !calls)
		print_message(
		        "no function that was called matches --filter '%s': a pattern matches a "
		        "complete name without parameters and arguments of templates ('parse_*', "
		        "'space::Box::put'), or a file name ('libx.so*')",
		        o->filter);
	if (program_file_is_full(directory))
		print_message("the disk of %s is full: processes and paths may be missing; "
		              "name a directory with free space in $ASSAY_CALLS_DIR",
		              directory);
}

static void tell_running(const call_table_list *list, const char *directory)
{
	size_t running = 0, handed = 0;

	vec_each (table, list)
		if (table->file.running && runtime_file_is_handed(table->file.path))
			handed++;
		else if (table->file.running)
			running++;
	if (running)
		print_message("%zu %s still running, and counted so far; %s in %s, for "
		              "'assay calls get'",
		              running, plural(running, "process is", "processes are"),
		              plural(running, "its table remains", "their tables remain"),
		              directory);
	if (handed)
		print_message("%zu %s still running with another user or root directory, and "
		              "counted so far; later calls are lost: run the program in the "
		              "foreground",
		              handed, plural(handed, "process is", "processes are"));
}

#define NAMED 8 /* maximum number of processes that a message names */

/* Finds running processes without a table, counts them in the model, and prints their names. */
static void tell_uncounted(struct call_paths *paths, const struct command_run_result *result,
                           const char *directory, const call_table_list *tables)
{
	calls_uncounted_list list = {0};
	struct buf names = {0};
	uint64_t since = 0;

	runtime_owner_birth(getpid(), &since);
	calls_uncounted_find(&list, directory, since, tables);
	calls_uncounted_note(&list, paths, result->pid);
	for (size_t i = 0; i < list.count && i < NAMED; i++)
		buf_addf(&names, "%s%s (process %d)", i ? ", " : "", list.items[i].name,
		         (int)list.items[i].pid);
	if (list.count)
		print_message(
		        "%zu %s running and had called no counted function: %s%s; the "
		        "report does not contain %s, and 'assay calls get' reads the calls that %s "
		        "later",
		        list.count, plural(list.count, "child is still", "children are still"),
		        buf_text(&names), list.count > NAMED ? ", ..." : "",
		        plural(list.count, "it", "them"),
		        plural(list.count, "it counts", "they count"));
	buf_done(&names);
	calls_uncounted_done(&list);
}

/*
 * The table of a process that was ended by a signal or by the exit_group system call does not
 * contain how it ended. The exit status of COMMAND does.
 */
static void correct_end(struct call_paths *paths, const struct command_run_result *result)
{
	if (result->exit_status == -1)
		return;
	vec_each (p, &paths->processes) {
		if (p->pid != result->pid || !(p->flags & CALL_END_UNKNOWN))
			continue;
		p->flags &= ~(uint32_t)CALL_END_UNKNOWN;
		if (WIFSIGNALED(result->exit_status))
			p->flags |= CALL_KILLED;
	}
}

/*
 * Reads the tables of the command and its children, and prints the report. Returns the exit status.
 */
static int report(const struct calls_options *o, const struct calls_run_options *run,
                  const struct command_run_result *result, call_table_list *list)
{
	const char *directory = run->directory;
	struct calls_output to = {.command = "calls",
	                          .file = o->output,
	                          .print = !o->quiet,
	                          .quiet = o->quiet,
	                          .sizes = o->native ? &o->sizes : NULL};
	struct call_paths *paths = call_paths_new();
	struct error err = {0};
	calls_notes notes = {0};
	int status = 0;

	bool taken = false; /* the tables were written to the file and may be removed */

	if (calls_tables_of(list, directory, &err) ||
	    calls_tables_read(paths, list, &notes, &err)) {
		status = command_fail(1, "calls: %s", err.text);
	} else if (paths->processes.count) {
		correct_end(paths, result);
		tell_uncounted(paths, result, directory, list);
		calls_output_notes(&notes);
		tell_running(list, directory);
		run_tell_refused(table_handout_refused(run->handout));
		hint(o, paths, directory);
		/* If the reader of the output closes it, the tables must still be removed. */
		signal(SIGPIPE, SIG_IGN);
		status = calls_output(paths, &to, &o->report);
		taken = to.written && !notes.count;
	} else if (calls_session_was_reset(directory)) {
		status = command_fail(1, "calls: no calls were counted since 'assay calls reset'");
		taken = true;
	} else {
		tell_uncounted(paths, result, directory, list);
		calls_runtime_why(run->command, directory, result->exit_status, &err);
		status = command_fail(1, "calls: %s", err.text);
		taken = true;
	}
	if (taken)
		calls_session_end(directory, list);
	else
		print_message("the counts remain in %s: 'assay calls get -o FILE' writes them "
		              "to FILE, 'assay calls reset' removes them",
		              directory);
	calls_notes_done(&notes);
	call_paths_free(paths);
	return status;
}

/* The calls in which threads waited; as JSON and on a page only 'assay waits' has them. */
static int show_waits(const struct calls_options *o)
{
	const struct report_options *r = &o->report.report;

	if (o->quiet || r->json || r->nested || medium_is_page(&r->style))
		return 0;
	return waits_calls_print(LOAD_DEFAULT, o->output, &r->style, "calls");
}

static int count_with(const struct calls_options *o, const struct calls_run_options *run)
{
	struct command_run_result result;
	call_table_list list = {0};
	struct error err = {0};
	struct record_beside waits = {0};
	int status, failed;

	if (o->waits) {
		status = record_beside_begin(&waits, "calls", LOAD_DEFAULT, NULL);
		if (status)
			return status;
	}
	failed = calls_run(run, &result, &err);
	status = record_beside_end(&waits);
	if (failed)
		return result.command_failed ? run_cannot(&cmd_calls, run->command[0], &err)
		                             : command_fail(1, "calls: %s", err.text);
	failed = report(o, run, &result, &list);
	if (!failed && o->waits)
		failed = status ? status : show_waits(o);
	status = run_exit_status(result.exit_status, result.signal);
	if (o->check && !status && !failed)
		failed = calls_check(run, o->native);
	run_end_unread();
	call_table_list_done(&list);
	return status ? status : failed;
}

static int count(const struct calls_options *o, char **argv, const char *memory,
                 const char *library, const char *directory)
{
	struct calls_run_options run = {.command = argv,
	                                .library = library,
	                                .directory = directory,
	                                .handout = table_handout_open(&call_table_kind, directory),
	                                .memory = *memory ? memory : NULL,
	                                .filter = o->filter,
	                                .libraries = o->libraries,
	                                .clock = !strcmp(o->time, "all"),
	                                .rate = o->rate == RATE_OWN ? 0 : o->rate};
	call_table_list none = {0};
	int status = count_with(o, &run);

	table_handout_close(run.handout);
	calls_session_end(directory, &none);
	return status;
}

/* Splits the functions of --kernel=A,B; the parser cannot, since the value is optional. */
static void split_functions(const char *text, struct calls_command_kernel_functions *f)
{
	while (*text) {
		size_t size = strcspn(text, ",");

		if (size) {
			vec_push(&f->owned, xstrndup(text, size));
			vec_push(&f->names, *vec_last(&f->owned));
		}
		text += size + (text[size] == ',');
	}
}

static int count_kernel(const struct calls_options *o, char **argv,
                        const struct calls_command_kernel_functions *functions)
{
	struct kernel_calls_options run = {.functions = functions->names.items,
	                                   .count = functions->names.count,
	                                   .is_recorded = o->waits};
	struct calls_output to = {
	        .command = "calls", .file = o->output, .print = !o->quiet, .quiet = o->quiet};
	struct call_paths *paths = call_paths_new();
	struct kernel_calls_result result;
	struct record_beside waits = {0};
	struct error err = {0};
	int status, waits_failed, failed = 0;

	status = o->waits ? record_beside_begin(&waits, "calls", LOAD_DEFAULT, KERNEL_WAITS_HZ) : 0;
	if (status)
		goto out;
	failed = kernel_calls_run(paths, &run, argv, &result, &err);
	waits_failed = record_beside_end(&waits);
	if (failed) {
		status = result.run.command_failed ? run_cannot(&cmd_calls, argv[0], &err)
		                                   : command_fail(1, "calls: %s", err.text);
	} else {
		status = run_exit_status(result.run.exit_status, result.run.signal);
		if (!result.cost_known)
			print_message("the cost of the kernel's function tracer could not be "
			              "measured, and is "
			              "included in the times");
		failed = paths->processes.count
		                 ? calls_output(paths, &to, &o->report)
		                 : command_fail(1,
		                                "calls: the kernel called none of these "
		                                "functions for %s",
		                                argv[0]);
		if (!failed && o->waits)
			failed = waits_failed ? waits_failed : show_waits(o);
	}
out:
	call_paths_free(paths);
	return status ? status : failed;
}

static int run_kernel(const struct calls_options *o, int argc, char **argv)
{
	struct calls_command_kernel_functions functions = {0};
	int words = 0, status;

	split_functions(o->kernel, &functions);
	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	/* Without "--" all words are the command. */
	for (int i = 0; words < argc && i < words; i++)
		vec_push(&functions.names, argv[i]);
	if (words < argc)
		argv += words + 1;
	if (!*argv)
		status = command_fail(2, "calls: --kernel needs a command to run: assay calls "
		                         "--kernel -- COMMAND");
	else if (o->libraries || o->filter || o->memory || o->rate != RATE_OWN || o->check ||
	         strcmp(o->time, "sampled"))
		status = command_fail(
		        2, "calls: --kernel counts calls in the kernel; --libraries, "
		           "--filter, --memory, --time, --freq and --check are for calls in "
		           "programs");
	else
		status = count_kernel(o, argv, &functions);
	vec_each (name, &functions.owned)
		free(*name);
	vec_done(&functions.owned);
	vec_done(&functions.names);
	return status;
}

/* Before COMMAND runs, which may take long. */
static int native_check(struct calls_options *o, const char *program)
{
	struct error err = {0};

	if (!o->native || !native_program_sizes(&o->sizes, program, o->native, &err))
		return 0;
	return command_fail(2, "calls: %s", err.text);
}

static int run_program(struct calls_options *o, char **argv)
{
	char *library = NULL, *directory = NULL, memory[RUN_MEMORY_MAX] = "";
	struct error err = {0};
	int status;

	if (*argv && !strcmp(*argv, "--"))
		argv++;
	if (!o->rate)
		return command_fail(
		        2, "calls: --freq: 0 is not a number of samples; '--time all' reads "
		           "the clock at each call and takes none");
	if (!*argv)
		return command_fail(2, "calls: needs a command to run (assay calls -- COMMAND), or "
		                       "a subcommand: list, get, reset");
	status = native_check(o, argv[0]);
	if (status)
		return status;
	if (o->memory && run_memory("calls", o->memory, memory))
		return 2;
	if (calls_runtime_find(&library, &err) || calls_session_begin(&directory, &err))
		status = command_fail(1, "calls: %s", err.text);
	else
		status = count(o, argv, memory, library, directory);
	free(library);
	free(directory);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	struct calls_options *o = p;
	struct error err = {0};

	if (calls_output_check("calls", &o->report))
		return 2;
	if (o->waits && !strcmp(o->output, LOAD_DEFAULT))
		return command_fail(2, "calls: --waits writes " LOAD_DEFAULT ": name another file "
		                       "with -o");
	if (output_file_check(o->output, FILE_CALLS, &err))
		return command_fail(1, "calls: %s", err.text);
	return o->kernel ? run_kernel(o, argc, argv) : run_program(o, argv);
}

static const struct command *const subcommands[] = {&calls_list, &calls_get, &calls_reset, NULL};

const struct command cmd_calls = {
        .name = "calls",
        .synopsis = "[OPTIONS] [--] COMMAND [ARG...]",
        .summary = "count every call of a command by call path",
        .description =
                "Runs COMMAND with the library libassay-calls. The library counts every call of "
                "each "
                "function that was built with -finstrument-functions by GCC or Clang, and measures "
                "its times: net (on a CPU, this function alone), total, wall, blocked and "
                "preempted; "
                "the cost of counting is subtracted. Children are included. When COMMAND has "
                "exited, "
                "the report is printed, and the counts are written to a file for 'assay report'. "
                "The exit status is that of COMMAND.\n\n"
                "'pkg-config --cflags --libs assay-calls' prints the flags for the build. A "
                "program "
                "that is linked with these flags counts its calls also when it runs without assay "
                "calls; list, get and reset work on it too. Static programs, and programs that run "
                "with other rights than yours (setuid), cannot be counted. Daemons that change "
                "their user or root directory are counted while assay calls runs, with all "
                "their workers: start them in the foreground.\n\n"
                "Ctrl-C goes to COMMAND; the report contains all calls until its exit, also if "
                "COMMAND crashes or is killed. Tables are in shared memory or in a file under "
                "$XDG_RUNTIME_DIR/assay/calls, for root under /run/assay/calls, else under "
                "/tmp/assay-UID/calls; $ASSAY_CALLS_DIR names another directory.",
        .examples = "assay calls -- ./program\n    its call paths, and those of its children\n"
                    "assay calls -f --libraries -- ./program\n"
                    "    by function, with its calls into libraries\n"
                    "assay calls --kernel vfs_read -- ./program\n"
                    "    the time of read calls in the kernel\n"
                    "assay calls list\n    the processes that count calls now\n"
                    "assay calls reset ; sleep 10 ; assay calls get\n"
                    "    the calls of all running processes in ten seconds\n",
        .options = options,
        .options_size = sizeof(struct calls_options),
        .defaults = defaults,
        .run = run,
        .stop_early = true,
        .keeps_dashes = true,
        .subcommands = subcommands,
};
