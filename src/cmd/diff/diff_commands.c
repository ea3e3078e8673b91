/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_commands.h"

#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "cmd/cli/print.h"
#include "cmd/diff/diff_fail.h"
#include "cmd/session/record_runs.h"
#include "launch/program_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT(field) offsetof(struct diff_command_runs_options, field)

const struct option diff_commands_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Running two commands"},
        {OPTION_COUNT, 0, "run", "N",
         "run the commands 'A' and 'B' N times each, in turn, and compare",
         .details =
                 "The two words are commands. One without special characters is started "
                 "directly, any other by sh -c. Their standard input is empty. The order is A B B "
                 "A A B ... Wall time, CPU time, memory, page faults and context switches are "
                 "compared too. If the series ends early, by Ctrl-C or a command that fails, its "
                 "complete pairs are compared.",
         .offset = AT(run)},
        {OPTION_COUNT, 0, "warm-up", "N", "runs of each command before, not recorded (default 1)",
         .offset = AT(warm_up)},
        {OPTION_STRING, 0, "prepare", "COMMAND",
         "a command for sh -c before each run, not recorded", .offset = AT(prepare)},
        {OPTION_FLAG, 0, "ignore-failure", NULL, "go on if a command fails",
         .offset = AT(ignore_failure)},
        {OPTION_FLAG, 0, "show-output", NULL,
         "show the commands' standard output, on standard error", .offset = AT(show_output)},
        {OPTION_STRING, 0, "keep", "DIR", "keep the recordings in DIR: a1.data, b1.data, ...",
         .details = "Older recordings in DIR move to DIR/old.1, the next time to DIR/old.2.",
         .offset = AT(keep)},
        {OPTION_STRING, 'F', "freq", "HZ", "samples per second, as for 'assay record'",
         .offset = AT(frequency)},
        {OPTION_STRING, 'g', "call-graph", "[HOW]", "record call chains, as for 'assay record'",
         .choices = "auto,fp,dwarf", .looks_ahead = true, .offset = AT(call_graph)},
        {.kind = OPTION_END},
};

/* Characters that mean something to a shell. */
static const char special[] = "|&;<>()$`\\\"'*?[]#~=%{}!\n";

/* The words of a command; `text` holds them. */
struct words {
	VEC(char *) list;
	char *text;
};

static void words_of(struct words *w, const char *command)
{
	char *rest;

	*w = (struct words){.text = xstrdup(command)};
	if (strpbrk(command, special)) {
		vec_push(&w->list, (char *)(uintptr_t) "sh");
		vec_push(&w->list, (char *)(uintptr_t) "-c");
		vec_push(&w->list, w->text);
	} else {
		for (char *word = strtok_r(w->text, " \t", &rest); word;
		     word = strtok_r(NULL, " \t", &rest))
			vec_push(&w->list, word);
	}
	vec_push(&w->list, NULL);
}

static void words_done(struct words *w)
{
	vec_done(&w->list);
	free(w->text);
}

void diff_commands_defaults(struct diff_command_runs_options *o)
{
	o->run = o->warm_up = OPTION_NO_COUNT;
}

/* The options of this table are about commands that diff runs. */
static int refuse_without_run(const struct diff_command_runs_options *o)
{
	struct diff_command_runs_options none = {0};
	int status = 0;

	diff_commands_defaults(&none);
	for (const struct option *at = diff_commands_option_table; at->kind != OPTION_END; at++)
		if (!status && option_is_given(at, o, &none))
			status = command_fail(2,
			                      "diff: --%s needs --run N 'COMMAND A' 'COMMAND B', "
			                      "which recordings do not have",
			                      at->name);
	return status;
}

static const char letters[DIFF_SIDES] = {[DIFF_A] = 'A', [DIFF_B] = 'B'};

/* The command has a word, and the program is there if no shell looks for it. */
static int check_command(enum diff_side side, const char *command)
{
	struct words w;
	char *program = NULL;
	int status = 0, code;

	if (!command[strspn(command, " \t\n")])
		return command_fail(2, "diff: command %c is empty", letters[side]);
	words_of(&w, command);
	program = program_file_find(w.list.items[0]);
	code = !program ? ENOENT : access(program, X_OK) ? errno : 0;
	if (code)
		status = command_fail(code == ENOENT ? DIFF_NOT_FOUND : DIFF_NOT_RUNNABLE,
		                      "diff: command %c: %s cannot be run: %s", letters[side],
		                      w.list.items[0],
		                      program ? strerror(code) : "there is no such program");
	free(program);
	words_done(&w);
	return status;
}

int diff_commands_check(const struct diff_command_runs_options *o, int count, char *const *words)
{
	int status = 0;

	if (!diff_commands_wanted(o))
		return refuse_without_run(o);
	if (!o->run)
		return command_fail(2, "diff: --run needs a number of runs of 1 or more");
	if (count != DIFF_SIDES)
		return command_fail(2, "diff: --run needs two commands, each in quotes: assay diff "
		                       "--run 5 'COMMAND A' 'COMMAND B'");
	for (int side = 0; side < DIFF_SIDES && !status; side++)
		status = check_command((enum diff_side)side, words[side]);
	return status;
}

struct diff_series {
	struct diff_commands *to;
	const struct diff_command_runs_options *options;
	char *const *commands;
	struct words words[DIFF_SIDES], prepare;
	struct record_options record;
	struct buf reason; /* why the series ended early */
	bool progress;
};

static void put_status(struct buf *out, int status)
{
	buf_addf(out, " failed with exit status %d", status);
	if (status > 128 && status < 128 + NSIG)
		buf_addf(out, " (%s)", strsignal(status - 128));
}

static void put_place(struct buf *out, const char *in, enum diff_side side, uint64_t number)
{
	if (number)
		buf_addf(out, " %s run %" PRIu64 " of %c", in, number, letters[side]);
	else
		buf_addf(out, " %s a warm-up run of %c", in, letters[side]);
}

/* Prints the reason. Returns the exit status: of a shell that did not find the program, or could
 * not run it, its own. */
static int end_series(struct diff_series *s, int end, const char *command, const char *hint)
{
	bool missing = end == DIFF_NOT_RUNNABLE || end == DIFF_NOT_FOUND;

	if (s->progress)
		print_progress_end();
	return command_fail(missing ? end : DIFF_NOTHING, "diff: %s: %s%s", buf_text(&s->reason),
	                    command, hint);
}

/* The exit status of a failed run after a message; 0: the series goes on. */
static int check_run(struct diff_series *s, enum diff_side side, uint64_t number,
                     struct record_run_end end)
{
	struct buf *reason = &s->reason;

	if (record_runs_interrupted())
		return 0;
	if (end.recorder_end) {
		buf_puts(reason, "the recorder was killed");
		if (WIFSIGNALED(end.recorder_end))
			buf_addf(reason, " by signal %d (%s)", WTERMSIG(end.recorder_end),
			         strsignal(WTERMSIG(end.recorder_end)));
		put_place(reason, "in", side, number);
		return end_series(s, 0, s->commands[side], "");
	}
	if (number && end.failed) {
		buf_puts(reason, "the recording failed");
		put_place(reason, "in", side, number);
		return end_series(s, 0, s->commands[side], "");
	}
	if (!end.status || s->options->ignore_failure)
		return 0;
	buf_addf(reason, "command %c", letters[side]);
	put_status(reason, end.status);
	put_place(reason, "in", side, number);
	return end_series(s, end.status, s->commands[side], " (--ignore-failure continues)");
}

static enum record_run_output output_of(const struct diff_series *s)
{
	return s->options->show_output ? RECORD_RUN_TO_STDERR : RECORD_RUN_DISCARDED;
}

static int prepare(struct diff_series *s, enum diff_side side, uint64_t number)
{
	const struct record_run run = {
	        .command_name = "diff", .argv = s->prepare.list.items, .shown = output_of(s)};
	struct record_run_end end;

	if (!s->options->prepare || record_runs_interrupted())
		return 0;
	end = record_runs_one(&run);
	if (!end.status || record_runs_interrupted())
		return 0;
	buf_puts(&s->reason, "--prepare");
	put_status(&s->reason, end.status);
	put_place(&s->reason, "before", side, number);
	return end_series(s, end.status, s->options->prepare, "");
}

static void show_progress(const struct diff_series *s, enum diff_side side, uint64_t number)
{
	if (s->progress && number)
		print_progress("run %" PRIu64 " of %" PRIu64 ": %c", number, s->options->run,
		               letters[side]);
	else if (s->progress)
		print_progress("warm-up: %c", letters[side]);
}

/* `number`: from 1; 0: a run that is not recorded. */
static int run_one(struct diff_series *s, enum diff_side side, uint64_t number)
{
	struct record_run run = {
	        .command_name = "diff", .argv = s->words[side].list.items, .shown = output_of(s)};
	struct record_run_end end;
	char *file = NULL;
	int status;

	show_progress(s, side, number);
	status = prepare(s, side, number);
	if (status || record_runs_interrupted())
		return status;
	if (number) {
		file = run_directory_file(&s->to->directory, side, number);
		run.options = &s->record;
		run.output = file;
	}
	end = record_runs_one(&run);
	status = check_run(s, side, number, end);
	if (file && !status && end.complete) {
		vec_push(&s->to->files[side], file);
	} else if (file) {
		unlink(file);
		free(file);
	}
	return status;
}

static int run_all(struct diff_series *s)
{
	uint64_t warm_up = s->options->warm_up == OPTION_NO_COUNT ? 1 : s->options->warm_up;
	int status = 0;

	for (uint64_t i = 0; i < warm_up && !status && !record_runs_interrupted(); i++)
		for (int side = 0; side < DIFF_SIDES && !status; side++)
			status = run_one(s, (enum diff_side)side, 0);
	for (uint64_t i = 1; i <= s->options->run && !status && !record_runs_interrupted(); i++) {
		enum diff_side first = i % 2 ? DIFF_A : DIFF_B;

		status = run_one(s, first, i);
		if (!status)
			status = run_one(s, first == DIFF_A ? DIFF_B : DIFF_A, i);
	}
	return status;
}

/* The sides keep their complete pairs. */
static size_t drop_unpaired(struct diff_commands *c)
{
	size_t a = c->files[DIFF_A].count, b = c->files[DIFF_B].count, pairs = a < b ? a : b;

	for (int side = 0; side < DIFF_SIDES; side++)
		while (c->files[side].count > pairs) {
			char *file = c->files[side].items[--c->files[side].count];

			if (!c->directory.kept)
				unlink(file);
			free(file);
		}
	return pairs;
}

/* A series that ended early is compared as far as it went. Returns the exit status if there is
 * nothing to compare. */
static int close_series(struct diff_series *s, int status)
{
	struct diff_commands *c = s->to;
	size_t pairs = drop_unpaired(c);

	if (pairs == s->options->run)
		return 0;
	if (!s->reason.size)
		buf_puts(&s->reason, "the series was interrupted");
	if (!pairs)
		return status ? status
		              : command_fail(130, "diff: %s before each command had run once",
		                             buf_text(&s->reason));
	c->status = status;
	c->ended =
	        xasprintf("%s: %zu of %" PRIu64 " runs of each command %s compared",
	                  buf_text(&s->reason), pairs, s->options->run, plural(pairs, "is", "are"));
	print_message("%s", c->ended);
	return 0;
}

int diff_commands_run(struct diff_commands *c, const struct diff_command_runs_options *o,
                      char *const words[DIFF_SIDES])
{
	struct diff_series s = {.to = c, .options = o, .commands = words};
	static const struct run_files files[] = {
	        [DIFF_A] = {"a", ".data"}, [DIFF_B] = {"b", ".data"}, {0}};
	int status = run_directory_open(&c->directory, "diff", files, o->keep);

	if (status)
		return status;
	record_options_default(&s.record);
	s.record.frequency = o->frequency ? o->frequency : s.record.frequency;
	s.record.call_graph = o->call_graph;
	s.record.waits = o->waits;
	s.progress = isatty(STDERR_FILENO);
	words_of(&s.words[DIFF_A], words[DIFF_A]);
	words_of(&s.words[DIFF_B], words[DIFF_B]);
	if (o->prepare) {
		s.prepare.text = xstrdup(o->prepare);
		vec_push(&s.prepare.list, (char *)(uintptr_t) "sh");
		vec_push(&s.prepare.list, (char *)(uintptr_t) "-c");
		vec_push(&s.prepare.list, s.prepare.text);
		vec_push(&s.prepare.list, NULL);
	}
	record_runs_begin();
	status = run_all(&s);
	if (s.progress)
		print_progress_end();
	status = close_series(&s, status);
	record_runs_end();
	words_done(&s.words[DIFF_A]);
	words_done(&s.words[DIFF_B]);
	words_done(&s.prepare);
	buf_done(&s.reason);
	return status;
}

void diff_commands_done(struct diff_commands *c)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		vec_each (file, &c->files[side]) {
			if (!c->directory.kept)
				unlink(*file);
			free(*file);
		}
		vec_done(&c->files[side]);
	}
	run_directory_done(&c->directory);
	free(c->ended);
	*c = (struct diff_commands){0};
}
