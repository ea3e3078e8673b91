/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls: exact call paths of a command, and of what counts its calls already. */
#include "cmd/calls/calls.h"
#include "cmd/cli/print.h"

#include "base/text/plural.h"
#include "base/file/replace_file.h"
#include "cmd/report/calls_output.h"
#include "cmd/run_command.h"
#include "launch/calls/calls_run.h"
#include "launch/calls/calls_runtime.h"
#include "launch/calls/calls_uncounted.h"
#include "launch/calls/kernel_calls.h"
#include "launch/program_file.h"
#include "source/runtime/runtime_owner.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct calls_options {
	bool libraries, quiet;
	const char *filter, *memory, *output;
	const char *kernel; /* NULL: not asked for; "": all of it, or what stands before "--" */
	struct calls_output_options report;
};

struct calls_command_kernel_functions {
	VEC(const char *) names;
	VEC(char *) owned;
};

#define AT(field) offsetof(struct calls_options, field)

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is counted"},
        {.kind = OPTION_FLAG,
         .name = "libraries",
         .help = "calls into libraries that were not built for it, too",
         .details = "Calls that instrumented code makes through the PLT or GOT are counted and "
                    "timed under the path that makes them. Functions that cannot be timed so, for "
                    "they return twice or look at their caller, are counted alone, and the report "
                    "says which. Libraries are bound at start (LD_BIND_NOW).",
         .offset = AT(libraries)},
        {.kind = OPTION_STRING,
         .name = "filter",
         .argument = "PATTERNS",
         .help = "functions or images of these names alone; !PATTERN leaves out",
         .details =
                 "Globs apart by commas, over names of functions and of files: 'parse_*', "
                 "'libx.so*,!x_hash'. Of several that fit, the last decides. Names are whole, and "
                 "C++ names without parameters and without the arguments of templates: "
                 "'space::Box::put'. The time of a function that is left out is its "
                 "caller's, and so is what its hooks take, 50 to 100 ns a call; leave out with "
                 "the compiler what is called most "
                 "(-finstrument-functions-exclude-function-list). Reports say that functions "
                 "were left out.",
         .offset = AT(filter)},
        {.kind = OPTION_STRING,
         .name = "memory",
         .argument = "MB",
         .help = "most memory for the table of each process (default 256)",
         .details = "MB, or bytes with k, M or G. It is taken in steps, as paths come. When it is "
                    "used up, new paths are counted as (other) below the nearest one that has "
                    "room, and the report says so.",
         .offset = AT(memory)},
        {.kind = OPTION_STRING,
         .name = "kernel",
         .argument = "[FUNCTION,...]",
         .help = "the kernel's calls instead: all, or those below FUNCTIONs",
         .details = "Counts and times the functions that the kernel runs for COMMAND and its "
                    "children, by the kernel's own function tracer; interrupts stand apart. "
                    "FUNCTIONs are globs, and may also stand as words before the \"--\". Needs "
                    "root and a kernel with CONFIG_FUNCTION_GRAPH_TRACER; COMMAND need not be "
                    "built for it.",
         .offset = AT(kernel)},
        {.kind = OPTION_GROUP, .help = "Output"},
        {.kind = OPTION_STRING,
         .letter = 'o',
         .name = "output",
         .argument = "FILE",
         .help = "the file written (default " CALLS_FILE "; an older one becomes FILE.old)",
         .offset = AT(output)},
        {.kind = OPTION_FLAG,
         .letter = 'q',
         .name = "quiet",
         .help = "no report and no closing line; the file alone",
         .offset = AT(quiet)},
        {.kind = OPTION_INCLUDE, .include = calls_output_option_table, .offset = AT(report)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct calls_options *o = p;

	o->output = CALLS_FILE;
	calls_output_defaults(&o->report);
}

/* Says what would otherwise be missed: that a filter fits nothing, that there was no room. */
static void hint(const struct calls_options *o, const struct call_paths *paths,
                 const char *directory)
{
	uint64_t calls = 0;

	vec_each (p, &paths->processes)
		calls += call_process_calls(p);
	if (o->filter && !calls)
		print_message(
		        "no function that was called fits --filter '%s': a pattern is of a "
		        "whole name, without parameters and the arguments of templates ('parse_*', "
		        "'space::Box::put'), or of a file's ('libx.so*')",
		        o->filter);
	if (program_file_is_full(directory))
		print_message("there is no more room in %s: processes and paths may be missing; "
		              "name a directory with room in $ASSAY_CALLS_DIR",
		              directory);
}

static void tell_running(const call_table_list *list, const char *directory)
{
	size_t running = 0;

	vec_each (table, list)
		running += table->file.running;
	if (running)
		print_message("%zu %s still running, counted so far; %s in %s, for "
		              "'assay calls get'",
		              running, plural(running, "process is", "processes are"),
		              plural(running, "its table stays", "their tables stay"), directory);
}

#define NAMED 8 /* of many, so many are named */

/* Counts them in the model, and names them. */
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
		print_message("%zu %s on and had called no function that is counted: %s%s; nothing "
		              "of %s is reported, and 'assay calls get' reads what %s later",
		              list.count, plural(list.count, "child runs", "children run"),
		              buf_text(&names), list.count > NAMED ? ", ..." : "",
		              plural(list.count, "it", "them"),
		              plural(list.count, "it counts", "they count"));
	buf_done(&names);
	calls_uncounted_done(&list);
}

/*
 * The table of a process that a signal or the exit_group system call ended does not say which.
 * The exit status of COMMAND does.
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

/* Reads what the command left, and reports; the exit status. */
static int report(const struct calls_options *o, const char *program,
                  const struct command_run_result *result, const char *directory,
                  call_table_list *list)
{
	struct calls_output to = {
	        .command = "calls", .file = o->output, .print = !o->quiet, .quiet = o->quiet};
	struct call_paths *paths = call_paths_new();
	struct error err = {0};
	calls_notes notes = {0};
	int status = 0;

	bool taken = false; /* the tables are of no more use */

	if (calls_tables_of(list, directory, &err) ||
	    calls_tables_read(paths, list, &notes, &err)) {
		status = command_fail(1, "calls: %s", err.text);
	} else if (paths->processes.count) {
		correct_end(paths, result);
		tell_uncounted(paths, result, directory, list);
		calls_output_notes(&notes);
		tell_running(list, directory);
		hint(o, paths, directory);
		/* A reader that has seen enough must not keep what follows from being done. */
		signal(SIGPIPE, SIG_IGN);
		status = calls_output(paths, &to, &o->report);
		taken = to.written && !notes.count;
	} else if (calls_session_was_reset(directory)) {
		status = command_fail(1, "calls: nothing was counted since 'assay calls reset'");
		taken = true;
	} else {
		tell_uncounted(paths, result, directory, list);
		calls_runtime_why(program, directory, &err);
		status = command_fail(1, "calls: %s", err.text);
		taken = true;
	}
	if (taken)
		calls_session_end(directory, list);
	else
		print_message("what was counted stays in %s: 'assay calls get -o FILE' writes it "
		              "to FILE, 'assay calls reset' removes it",
		              directory);
	calls_notes_done(&notes);
	call_paths_free(paths);
	return status;
}

static int count(const struct calls_options *o, char **argv, const char *memory,
                 const char *library, const char *directory)
{
	struct calls_run_options run = {.command = argv,
	                                .library = library,
	                                .directory = directory,
	                                .memory = *memory ? memory : NULL,
	                                .filter = o->filter,
	                                .libraries = o->libraries};
	struct command_run_result result;
	call_table_list list = {0};
	struct error err = {0};
	int status, failed;

	if (calls_run(&run, &result, &err)) {
		calls_session_end(directory, &list);
		return result.command_failed ? run_cannot(&cmd_calls, argv[0], &err)
		                             : command_fail(1, "calls: %s", err.text);
	}
	status = run_exit_status(result.exit_status, result.signal);
	failed = report(o, argv[0], &result, directory, &list);
	run_end_unread();
	call_table_list_done(&list);
	return status ? status : failed;
}

/* The functions of --kernel=A,B; split here, as an option without a value is no list. */
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
	                                   .count = functions->names.count};
	struct calls_output to = {
	        .command = "calls", .file = o->output, .print = !o->quiet, .quiet = o->quiet};
	struct call_paths *paths = call_paths_new();
	struct kernel_calls_result result;
	struct error err = {0};
	int status, failed = 0;

	if (kernel_calls_run(paths, &run, argv, &result, &err)) {
		status = result.run.command_failed ? run_cannot(&cmd_calls, argv[0], &err)
		                                   : command_fail(1, "calls: %s", err.text);
	} else {
		status = run_exit_status(result.run.exit_status, result.run.signal);
		if (!result.cost_known)
			print_message(
			        "what the kernel's tracer costs could not be measured, and is "
			        "in the times");
		failed = paths->processes.count
		                 ? calls_output(paths, &to, &o->report)
		                 : command_fail(1,
		                                "calls: the kernel called none of these "
		                                "functions for %s",
		                                argv[0]);
	}
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
	/* No "--": all of it is the command. */
	for (int i = 0; words < argc && i < words; i++)
		vec_push(&functions.names, argv[i]);
	if (words < argc)
		argv += words + 1;
	if (!*argv)
		status = command_fail(2, "calls: --kernel wants a command to run: assay calls "
		                         "--kernel -- COMMAND");
	else if (o->libraries || o->filter || o->memory)
		status = command_fail(2, "calls: --kernel counts the kernel's calls; --libraries, "
		                         "--filter and --memory are for a program's");
	else
		status = count_kernel(o, argv, &functions);
	vec_each (name, &functions.owned)
		free(*name);
	vec_done(&functions.owned);
	vec_done(&functions.names);
	return status;
}

static int run_program(const struct calls_options *o, char **argv)
{
	char *library = NULL, *directory = NULL, memory[RUN_MEMORY_MAX] = "";
	struct error err = {0};
	int status;

	if (*argv && !strcmp(*argv, "--"))
		argv++;
	if (!*argv)
		return command_fail(2, "calls: wants a command to run (assay calls -- COMMAND), or "
		                       "one of its own: list, get, reset");
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
	const struct calls_options *o = p;
	struct error err = {0};

	if (calls_output_check("calls", &o->report))
		return 2;
	if (replace_file_check(o->output, &err))
		return command_fail(1, "calls: %s", err.text);
	return o->kernel ? run_kernel(o, argc, argv) : run_program(o, argv);
}

static const struct command *const subcommands[] = {&calls_list, &calls_get, &calls_reset, NULL};

const struct command cmd_calls = {
        .name = "calls",
        .synopsis = "[OPTIONS] [--] COMMAND [ARG...]",
        .summary = "count every call of a command, exactly, by call path",
        .description =
                "Runs COMMAND with libassay-calls loaded, which counts every call of each function "
                "that was built with -finstrument-functions, by GCC or Clang, and takes its time: "
                "net (on a CPU, this function alone), total, wall, blocked, preempted, with what "
                "the counting cost taken out. Children are followed. When COMMAND has ended, the "
                "report is printed and the counts are written to a file that 'assay report' "
                "reads; the exit status is COMMAND's.\n\n"
                "'pkg-config --cflags --libs assay-calls' gives the flags to build with. A program "
                "that is linked so counts its calls whenever it runs, without assay calls: list, "
                "get and reset see it all the same. Static programs, and programs that run with "
                "other rights than yours (setuid), cannot be counted. One that changes its user "
                "counts on if it was counted before; what it then starts may not write to your "
                "directory, and is not counted.\n\n"
                "Ctrl-C reaches COMMAND; what was counted up to its end is reported. So it is if "
                "COMMAND crashes or is killed. Tables are kept in shared memory or a file under "
                "$XDG_RUNTIME_DIR/assay/calls, for root under /run/assay/calls, else under "
                "/tmp/assay-UID/calls; $ASSAY_CALLS_DIR names another directory.",
        .examples = "assay calls -- ./program\n    its call paths, and those of its children\n"
                    "assay calls -f --libraries -- ./program\n"
                    "    by function, with what it calls in libraries\n"
                    "assay calls --kernel vfs_read -- ./program\n"
                    "    what reading takes in the kernel\n"
                    "assay calls list\n    who counts calls now\n"
                    "assay calls reset ; sleep 10 ; assay calls get\n"
                    "    the calls of ten seconds, of all that run\n",
        .options = options,
        .options_size = sizeof(struct calls_options),
        .defaults = defaults,
        .run = run,
        .stop_early = true,
        .keeps_dashes = true,
        .subcommands = subcommands,
};
