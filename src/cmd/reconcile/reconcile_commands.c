/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/reconcile/reconcile_commands.h"

#include "base/memory/xalloc.h"
#include "cmd/calls/counted_run.h"
#include "cmd/cli/print.h"
#include "cmd/report/calls_output.h"
#include "cmd/run_command.h"
#include "cmd/session/record_runs.h"
#include "launch/calls/calls_runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT(field) offsetof(struct reconcile_commands_options, field)

const struct option reconcile_commands_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Running a command"},
        {OPTION_COUNT, 0, "run", "N", "runs with samples, and as many with counts (default 5)",
         .details = "The order is S C C S S C ... Three runs or more show the scatter between "
                    "runs.",
         .offset = AT(run)},
        {OPTION_STRING, 0, "native", "PROGRAM",
         "sample this program, built without -finstrument-functions",
         .details = "It gets the arguments of COMMAND. Without this option COMMAND itself is "
                    "sampled, with hooks that do nothing.",
         .offset = AT(native)},
        {OPTION_STRING, 0, "keep", "DIR",
         "keep the recordings in DIR: sampled1.data, counted1.calls, ...", .offset = AT(keep)},
        {OPTION_STRING, 'F', "freq", "HZ", "samples per second, as for 'assay record'",
         .offset = AT(frequency)},
        {.kind = OPTION_END},
};

struct reconcile_series {
	struct reconcile_commands *to;
	const struct reconcile_commands_options *options;
	char **command;
	char *library; /* the runtime that counts */
	struct record_options record;
	bool progress;
};

enum { SAMPLED, COUNTED };

static const struct run_files run_files[] = {
        [SAMPLED] = {"sampled", ".data"}, [COUNTED] = {"counted", ".calls"}, {0}};

static int check_end(const struct reconcile_series *s, int status)
{
	if (record_runs_interrupted())
		return command_fail(130, "reconcile: interrupted");
	return status ? command_fail(1,
	                             "reconcile: %s ended with exit status %d, so its runs "
	                             "cannot be compared",
	                             s->command[0], status)
	              : 0;
}

static int sample(struct reconcile_series *s, char *file)
{
	struct record_run run = {.options = &s->record,
	                         .command_name = "reconcile",
	                         .output = file,
	                         .argv = s->command,
	                         .shown = RECORD_RUN_DISCARDED,
	                         .quiet = true};
	char *program = s->command[0];
	struct record_run_end end;

	if (s->options->native)
		s->command[0] = (char *)(uintptr_t)s->options->native;
	end = record_runs_one(&run);
	s->command[0] = program;
	if (end.failed)
		return 1;
	if (end.recorder_end && !record_runs_interrupted())
		return command_fail(1, "reconcile: the recorder was killed by signal %d",
		                    WTERMSIG(end.recorder_end));
	return check_end(s, end.status);
}

static int count(struct reconcile_series *s, char *file)
{
	const struct calls_run_options run = {.command = s->command, .library = s->library};
	const struct calls_output_options options = {0};
	struct calls_output to = {.command = "reconcile", .file = file, .quiet = true};
	struct call_paths *paths = call_paths_new();
	struct command_run_result result;
	struct error err = {0};
	int kept = run_output_hide(), status = counted_run(&run, paths, &result, &err);

	run_output_show(kept);
	if (status && result.command_failed)
		status = command_fail(127, "reconcile: %s", err.text);
	else if (!status || result.exit_status || result.signal)
		status = check_end(s, run_exit_status(result.exit_status, result.signal));
	else
		status = command_fail(1, "reconcile: %s", err.text);
	if (!status)
		status = calls_output(paths, &to, &options);
	call_paths_free(paths);
	return status;
}

static int run_one(struct reconcile_series *s, bool counted, uint64_t number)
{
	char *file = run_directory_file(&s->to->directory, counted ? COUNTED : SAMPLED, number);

	vec_push(&s->to->files, file);
	if (s->progress)
		print_progress("run %llu of %llu: %s", (unsigned long long)number,
		               (unsigned long long)s->options->run,
		               counted ? "counted" : "sampled");
	return counted ? count(s, file) : sample(s, file);
}

static int run_all(struct reconcile_series *s)
{
	int status = 0;

	for (uint64_t i = 1; i <= s->options->run && !status; i++) {
		/* Each order is used in turn, so that slow changes of the machine cancel. */
		bool first = i % 2 == 0;

		status = run_one(s, first, i);
		if (!status)
			status = run_one(s, !first, i);
	}
	return status;
}

/* The command must not wait for input, and each run must get the same input: none. */
static void empty_input(void)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing < 0)
		return;
	dup2(nothing, STDIN_FILENO);
	close(nothing);
}

int reconcile_commands_run(struct reconcile_commands *c, const struct reconcile_commands_options *o,
                           char **command)
{
	struct reconcile_series s = {.to = c, .options = o, .command = command};
	struct error err = {0};
	int status;

	if (calls_runtime_find(&s.library, &err))
		return command_fail(1, "reconcile: %s", err.text);
	status = run_directory_open(&c->directory, "reconcile", run_files, o->keep);
	if (!status) {
		record_options_default(&s.record);
		s.record.frequency = o->frequency ? o->frequency : s.record.frequency;
		s.record.call_graph = "";
		s.progress = isatty(STDERR_FILENO);
		empty_input();
		record_runs_begin();
		status = run_all(&s);
		record_runs_end();
		if (s.progress)
			print_progress_end();
	}
	free(s.library);
	return status;
}

void reconcile_commands_done(struct reconcile_commands *c)
{
	vec_each (file, &c->files) {
		if (!c->directory.kept)
			unlink(*file);
		free(*file);
	}
	vec_done(&c->files);
	run_directory_done(&c->directory);
	*c = (struct reconcile_commands){0};
}
