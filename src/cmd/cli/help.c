/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help: `assay help [COMMAND]`; man pages and completions come from the same texts. */
#include "cmd/cli/command.h"
#include "cmd/cli/print.h"

#include "base/memory/buf.h"
#include "base/text/spelling.h"
#include "cmd/cli/option.h"
#include "cmd/cli/wrap.h"

#include <ctype.h>
#include <string.h>

extern const struct command cmd_help, cmd_help_methods;

#define OPTION_COLUMN 26 /* column where the help of an option begins */

/* "-F, --freq=HZ" */
static void add_spelling(struct buf *b, const struct option *o)
{
	char name[64];

	option_argument_name(o, name, sizeof(name));
	buf_puts(b, "  ");
	if (o->letter)
		buf_addf(b, "-%c", o->letter);
	if (o->letter && o->name)
		buf_puts(b, ", ");
	else if (o->name)
		buf_puts(b, "    ");
	if (o->name)
		buf_addf(b, "--%s", o->name);
	if (option_value_is_optional(o))
		buf_addf(b, "[=%s]", name);
	else if (name[0])
		buf_addf(b, "%s%s", o->name ? "=" : " ", name);
}

static void add_option(struct buf *b, const struct option *o)
{
	struct buf line = {0}, text = {0};

	if (o->kind == OPTION_GROUP) {
		buf_addf(b, "\n%s:\n", o->help ? o->help : o->name);
		return;
	}
	add_spelling(&line, o);
	buf_puts(&text, o->help ? o->help : "");
	if (option_shows_choices(o))
		buf_addf(&text, ": %s", o->choices);
	if (line.size + 2 > OPTION_COLUMN) {
		buf_putc(&line, '\n');
		buf_pad(&line, ' ', OPTION_COLUMN);
	} else {
		buf_pad(&line, ' ', OPTION_COLUMN - line.size);
	}
	buf_puts(b, line.data);
	wrap_text(b, buf_text(&text), OPTION_COLUMN, OPTION_COLUMN);
	buf_putc(b, '\n');
	buf_done(&line);
	buf_done(&text);
}

static void add_options(struct buf *b, const struct command *command)
{
	static const struct option help = {OPTION_FLAG, 'h', "help", .help = "print this help"};
	struct option_table table;

	option_table_init(&table, command->options);
	if (!table.rows.count || table.rows.items[0].kind != OPTION_GROUP)
		buf_puts(b, "\nOptions:\n");
	vec_each (o, &table.rows)
		add_option(b, o);
	if (table.rows.count && table.rows.items[table.rows.count - 1].kind == OPTION_GROUP)
		buf_putc(b, '\n');
	add_option(b, &help);
	option_table_done(&table);
}

static void add_indented(struct buf *b, const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");

		if (length)
			buf_puts(b, "  ");
		buf_add(b, lines, length);
		buf_putc(b, '\n');
		lines += length + (lines[length] == '\n');
	}
}

static void add_usage(struct buf *b, const struct command *command)
{
	buf_addf(b, "Usage: assay %s %s\n", command->name,
	         command->synopsis ? command->synopsis : "");
	for (size_t i = 0; command->subcommands && command->subcommands[i]; i++)
		buf_addf(b, "       assay %s %s\n", command->subcommands[i]->name,
		         command->subcommands[i]->synopsis);
	buf_putc(b, '\n');
}

static void add_subcommands(struct buf *b, const struct command *command)
{
	if (!command->subcommands)
		return;
	buf_puts(b, "\nSubcommands:\n");
	for (size_t i = 0; command->subcommands[i]; i++) {
		buf_addf(b, "  %-11s ", command_word(command->subcommands[i]));
		wrap_text(b, command->subcommands[i]->summary, 14, 14);
		buf_putc(b, '\n');
	}
}

void command_print_help(const struct command *command)
{
	struct buf b = {0};

	add_usage(&b, command);
	buf_putc(&b, (char)toupper((unsigned char)command->summary[0]));
	wrap_text(&b, command->summary + 1, 1, 0);
	buf_puts(&b, ".\n");
	add_subcommands(&b, command);
	add_options(&b, command);
	if (command->examples) {
		buf_puts(&b, "\nExamples:\n");
		add_indented(&b, command->examples);
	}
	/* The page of a command describes its subcommands. */
	buf_addf(&b, "\n'assay help --man %.*s | man -l -' shows the complete page.\n",
	         (int)strcspn(command->name, " "), command->name);
	print_text(&b);
	buf_done(&b);
}

void command_print_overview(void)
{
	struct buf b = {0};

	buf_puts(&b, "assay " ASSAY_VERSION
	             ": a profiler that accounts for all time of a whole machine.\n\n"
	             "Usage: assay COMMAND [OPTIONS]\n\nCommands:\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_addf(&b, "  %-11s ", commands[i]->name);
		wrap_text(&b, commands[i]->summary, 14, 14);
		buf_putc(&b, '\n');
	}
	buf_puts(&b,
	         "\nOptions:\n"
	         "  -h, --help     print this overview\n"
	         "  -V, --version  print the version\n"
	         "\n'assay help COMMAND' lists the options of a command, 'assay help methods'\n"
	         "compares the methods of measuring.\n"
	         "\nFirst steps:\n"
	         "  assay record -a -- sleep 5  sample the whole machine for five seconds\n"
	         "  assay report                 show where the time went\n"
	         "  assay calls -- ./program     count every call of an instrumented program\n");
	print_text(&b);
	buf_done(&b);
}

struct help_options {
	bool man;
	const char *completion;
};

static const struct option help_list[] = {
        {OPTION_FLAG, 0, "man", NULL, "print the man page as source for man(1)",
         .details = "Without COMMAND: the page of assay itself.",
         .offset = offsetof(struct help_options, man)},
        {OPTION_STRING, 0, "completion", "SHELL", "print a completion script for a shell",
         .choices = "bash,zsh,fish",
         .details = "The script is to be sourced, or put where the shell looks for "
                    "completions.",
         .offset = offsetof(struct help_options, completion)},
        {.kind = OPTION_END},
};

static const struct command *const help_subcommands[] = {&cmd_help_methods, NULL};

static int unknown(const char *name)
{
	const char *words[] = {command_word(&cmd_help_methods)};
	const char *nearest = spelling_nearest(name, words, 1);

	if (nearest)
		return command_fail(2, "there is no command '%s'; did you mean 'help %s'?", name,
		                    nearest);
	return command_unknown(name);
}

static int help_run(void *data, int argc, char **argv)
{
	struct help_options *options = data;
	const struct command *command = NULL;

	if (options->completion && (argc || options->man))
		return command_fail(
		        2, "help: --completion takes no COMMAND: the script covers every command");
	if (argc) {
		command = command_find(argv[0]);
		if (!command)
			return unknown(argv[0]);
	}
	if (argc > 1 && command_find_sub(command, argv[1])) {
		/* The page of a command contains its subcommands. */
		if (!options->man)
			command = command_find_sub(command, argv[1]);
		argc--;
	}
	if (argc > 1)
		return command_fail(2, "help: one command at a time: '%s' is too many",
		                    argv[argc > 2 ? 2 : 1]);
	if (options->completion)
		return command_print_completion(options->completion) ? 1 : 0;
	if (options->man)
		command_print_man(command);
	else if (command)
		command_print_help(command);
	else
		command_print_overview();
	return 0;
}

const struct command cmd_help = {
        .name = "help",
        .synopsis = "[OPTIONS] [COMMAND]",
        .summary = "describe a command and its options",
        .description = "Describes COMMAND and its options; without COMMAND, lists all "
                       "commands.\n\n"
                       "Help, man pages and shell completions are generated from one description "
                       "of each option, so they agree with each other and with the program.",
        .examples = "assay help record\n"
                    "    the options of record\n"
                    "assay help --man report | man -l -\n"
                    "    the man page of report\n"
                    "assay help methods\n"
                    "    what each method of measuring sees, and what it costs\n"
                    "source <(assay help --completion bash)\n"
                    "    completion in this shell\n",
        .options = help_list,
        .options_size = sizeof(struct help_options),
        .run = help_run,
        .subcommands = help_subcommands,
};
