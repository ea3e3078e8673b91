/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_commands.h"

#include "base/memory/xalloc.h"
#include "cmd/cli/print.h"
#include "cmd/session/record_runs.h"
#include "launch/program_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(field) offsetof(struct diff_command_runs_options, field)

const struct option diff_commands_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Running two commands"},
        {OPTION_COUNT, 0, "run", "N",
         "run the commands 'A' and 'B' N times each, in turn, and compare",
         .details =
                 "The two words are commands. One without special characters is started "
                 "directly, any other by sh -c. The order is A B B A A B ... Wall time, CPU time, "
                 "memory, page faults and context switches are compared too.",
         .offset = AT(run)},
        {OPTION_COUNT, 0, "warm-up", "N", "runs of each command before, not recorded (default 1)",
         .offset = AT(warm_up)},
        {OPTION_STRING, 0, "prepare", "COMMAND",
         "a command for sh -c before each run, not recorded", .offset = AT(prepare)},
        {OPTION_FLAG, 0, "ignore-failure", NULL, "go on if a command fails",
         .offset = AT(ignore_failure)},
        {OPTION_FLAG, 0, "show-output", NULL, "show the standard output of the commands",
         .offset = AT(show_output)},
        {OPTION_STRING, 0, "keep", "DIR", "keep the recordings in DIR: a1.data, b1.data, ...",
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
	int status = 0;

	if (!command[strspn(command, " \t\n")])
		return command_fail(2, "diff: command %c is empty", letters[side]);
	words_of(&w, command);
	program = program_file_find(w.list.items[0]);
	if (!program || access(program, X_OK))
		status = command_fail(1, "diff: command %c: %s cannot be run: %s", letters[side],
		                      w.list.items[0],
		                      program ? strerror(errno) : "there is no such program");
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

static int make_directory(struct diff_commands *c, const char *keep)
{
	const char *top = getenv("TMPDIR");

	c->kept = keep != NULL;
	c->directory = keep ? xstrdup(keep)
	                    : xasprintf("%s/assay-diff-XXXXXX", top && *top ? top : "/tmp");
	if (keep ? !mkdir(keep, 0700) || errno == EEXIST : mkdtemp(c->directory) != NULL)
		return 0;
	command_fail(1, "diff: %s: the directory for the recordings cannot be created: %s",
	             c->directory, strerror(errno));
	free(c->directory);
	c->directory = NULL;
	return 1;
}

struct series {
	struct diff_commands *to;
	const struct diff_command_runs_options *options;
	char *const *commands;
	struct words words[DIFF_SIDES], prepare;
	struct record_options record;
	bool progress;
};

/* The exit status of a failed run after a message; 0: the series goes on. */
static int check_run(const struct series *s, enum diff_side side, struct record_run_end end,
                     bool recorded)
{
	if (record_runs_interrupted())
		return 0;
	if (recorded && !end.recorded)
		return 1;
	if (!end.status || s->options->ignore_failure)
		return 0;
	if (s->progress)
		print_progress_end();
	return command_fail(
	        1, "diff: command %c failed with exit status %d: %s (--ignore-failure goes on)",
	        letters[side], end.status, s->commands[side]);
}

static int prepare(const struct series *s)
{
	const struct record_run run = {.command_name = "diff",
	                               .argv = s->prepare.list.items,
	                               .discard = !s->options->show_output};
	struct record_run_end end;

	if (!s->options->prepare || record_runs_interrupted())
		return 0;
	end = record_runs_one(&run);
	return end.status ? command_fail(1, "diff: --prepare failed with exit status %d: %s",
	                                 end.status, s->options->prepare)
	                  : 0;
}

/* `number`: from 1; 0: a run that is not recorded. */
static int run_one(struct series *s, enum diff_side side, uint64_t number)
{
	struct record_run run = {.command_name = "diff",
	                         .argv = s->words[side].list.items,
	                         .discard = !s->options->show_output};
	struct record_run_end end;
	char *file = NULL;
	int status = prepare(s);

	if (status || record_runs_interrupted())
		return status;
	if (number) {
		file = xasprintf("%s/%c%llu.data", s->to->directory, letters[side] - 'A' + 'a',
		                 (unsigned long long)number);
		run.options = &s->record;
		run.output = file;
	}
	if (s->progress && number)
		print_progress("run %llu of %llu: %c", (unsigned long long)number,
		               (unsigned long long)s->options->run, letters[side]);
	end = record_runs_one(&run);
	status = check_run(s, side, end, number != 0);
	if (file && !status && end.recorded && !record_runs_interrupted())
		vec_push(&s->to->files[side], file);
	else if (file) {
		unlink(file);
		free(file);
	}
	return status;
}

static int run_all(struct series *s)
{
	int status = 0;
	uint64_t warm_up = s->options->warm_up == OPTION_NO_COUNT ? 1 : s->options->warm_up;

	for (uint64_t i = 0; i < warm_up && !status; i++)
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

/* After an interruption the sides keep their complete pairs. */
static int check_all(struct diff_commands *c)
{
	size_t a = c->files[DIFF_A].count, b = c->files[DIFF_B].count, pairs = a < b ? a : b;

	if (!record_runs_interrupted())
		return 0;
	for (int side = 0; side < DIFF_SIDES; side++)
		while (c->files[side].count > pairs) {
			char *file = c->files[side].items[--c->files[side].count];

			if (!c->kept)
				unlink(file);
			free(file);
		}
	if (!pairs)
		return command_fail(130, "diff: interrupted before each command had run once");
	print_message("interrupted: %zu of the runs of each command are compared", pairs);
	return 0;
}

int diff_commands_run(struct diff_commands *c, const struct diff_command_runs_options *o,
                      char *const words[DIFF_SIDES])
{
	struct series s = {.to = c, .options = o, .commands = words};
	int status = make_directory(c, o->keep);

	if (status)
		return status;
	record_options_default(&s.record);
	s.record.frequency = o->frequency ? o->frequency : s.record.frequency;
	s.record.call_graph = o->call_graph;
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
	if (!status)
		status = check_all(c);
	record_runs_end();
	words_done(&s.words[DIFF_A]);
	words_done(&s.words[DIFF_B]);
	words_done(&s.prepare);
	return status;
}

void diff_commands_done(struct diff_commands *c)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		vec_each (file, &c->files[side]) {
			if (!c->kept)
				unlink(*file);
			free(*file);
		}
		vec_done(&c->files[side]);
	}
	if (c->directory && !c->kept)
		rmdir(c->directory);
	free(c->directory);
	*c = (struct diff_commands){0};
}
