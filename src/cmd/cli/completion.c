/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion: completion scripts for bash, zsh and fish. */
#include "cmd/cli/command.h"
#include "cmd/cli/print.h"

#include "base/memory/buf.h"
#include "cmd/cli/option.h"

#include <stdio.h>
#include <string.h>

/*
 * Adds text inside '...'. Only the quote itself needs an escape, which is the same in all shells.
 */
static void add_quoted(struct buf *b, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(b, "'\\''");
		else if (strchr(escaped, *text))
			buf_addf(b, "\\%c", *text);
		else
			buf_putc(b, *text);
	}
}

static void add_choices(struct buf *b, const char *choices)
{
	for (; *choices; choices++)
		buf_putc(b, *choices == ',' ? ' ' : *choices);
}

static void add_command_names(struct buf *b)
{
	for (size_t i = 0; commands[i]; i++)
		buf_addf(b, "%s%s", i ? " " : "", commands[i]->name);
}

static void add_sub_words(struct buf *b, const struct command *command)
{
	for (size_t i = 0; command->subcommands && command->subcommands[i]; i++)
		buf_addf(b, "%s%s", i ? " " : "", command_word(command->subcommands[i]));
}

/* The words that may follow `assay help`. */
static void add_help_words(struct buf *b)
{
	add_command_names(b);
	buf_putc(b, ' ');
	add_sub_words(b, command_find("help"));
}

static void add_bash_words(struct buf *b, const struct option_table *table)
{
	buf_puts(b, "\t\twords='");
	vec_each (o, &table->rows) {
		if (o->kind == OPTION_GROUP)
			continue;
		if (o->name)
			buf_addf(b, "--%s ", o->name);
		if (o->letter)
			buf_addf(b, "-%c ", o->letter);
	}
	buf_puts(b, "--help -h'\n");
}

/* `pattern`: matches the second and third words of the command line. */
static void add_bash_case(struct buf *b, const struct command *command, const char *pattern)
{
	struct option_table table;

	option_table_init(&table, command->options);
	buf_addf(b, "\t%s)\n\t\tcase \"$previous\" in\n", pattern);
	vec_each (o, &table.rows) {
		if (o->kind == OPTION_GROUP || !option_takes_value(o) ||
		    option_value_is_optional(o))
			continue;
		buf_puts(b, "\t\t");
		if (o->name)
			buf_addf(b, "--%s", o->name);
		if (o->letter)
			buf_addf(b, "%s-%c", o->name ? "|" : "", o->letter);
		if (o->choices) {
			buf_puts(b, ") values='");
			add_choices(b, o->choices);
			buf_puts(b, "' ;;\n");
		} else {
			buf_puts(b, ") files=1 ;;\n");
		}
	}
	buf_puts(b, "\t\tesac\n");
	add_bash_words(b, &table);
	if (command->subcommands) {
		buf_puts(b, "\t\t[ \"$COMP_CWORD\" -ne 2 ] || subs='");
		add_sub_words(b, command);
		buf_puts(b, "'\n");
	}
	buf_puts(b, "\t\t;;\n");
	option_table_done(&table);
}

static void add_bash_command(struct buf *b, const struct command *command)
{
	char *pattern;

	for (size_t i = 0; command->subcommands && command->subcommands[i]; i++) {
		const struct command *sub = command->subcommands[i];

		pattern = xasprintf("'%s '*", sub->name);
		add_bash_case(b, sub, pattern);
		free(pattern);
	}
	pattern = xasprintf("'%s '*", command->name);
	add_bash_case(b, command, pattern);
	free(pattern);
}

static void add_bash(struct buf *b)
{
	buf_puts(b, "# assay's completion for bash, made by 'assay help --completion bash'.\n"
	            "_assay()\n{\n"
	            "\tlocal current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"\" words=\"\"\n"
	            "\tlocal values=\"\" files=\"\" subs=\"\"\n"
	            "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	            "\t\tCOMPREPLY=($(compgen -W '");
	add_command_names(b);
	buf_puts(b, " --help --version' -- \"$current\"))\n\t\treturn\n\tfi\n"
	            "\tprevious=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
	            "\tif [ \"$current\" = '=' ]; then\n\t\tcurrent=''\n"
	            "\telif [ \"$previous\" = '=' ]; then\n"
	            "\t\tprevious=\"${COMP_WORDS[COMP_CWORD-2]}\"\n\tfi\n"
	            "\tcase \"${COMP_WORDS[*]:1:2} \" in\n");
	for (size_t i = 0; commands[i]; i++)
		add_bash_command(b, commands[i]);
	buf_puts(b, "\tesac\n\tif [ -n \"$values\" ]; then\n"
	            "\t\tCOMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
	            "\telif [ -z \"$files\" ] && [[ \"$current\" == -* ]]; then\n"
	            "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	            "\telif [ \"${COMP_WORDS[1]}\" = help ]; then\n"
	            "\t\tCOMPREPLY=($(compgen -W '");
	add_help_words(b);
	buf_puts(b, "' -- \"$current\"))\n"
	            "\telif [ -n \"$subs\" ]; then\n"
	            "\t\tCOMPREPLY=($(compgen -f -W \"$subs\" -- \"$current\"))\n"
	            "\telse\n"
	            "\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n\tfi\n}\n"
	            "complete -o filenames -F _assay assay\n");
}

static void add_zsh_argument(struct buf *b, const struct option *o)
{
	char name[64];

	if (!option_takes_value(o))
		return;
	option_argument_name(o, name, sizeof(name));
	buf_puts(b, option_value_is_optional(o) ? "::" : ":");
	add_quoted(b, name, ":\\");
	buf_putc(b, ':');
	if (o->choices) {
		buf_putc(b, '(');
		add_choices(b, o->choices);
		buf_putc(b, ')');
	} else {
		buf_puts(b, "_files");
	}
}

static void add_zsh_option(struct buf *b, const struct option *o)
{
	const char *equals = option_takes_value(o) ? "=" : "";

	for (int by_letter = 0; by_letter < 2; by_letter++) {
		if (by_letter ? !o->letter : !o->name)
			continue;
		buf_puts(b, "\t\t\t'*");
		if (by_letter)
			buf_addf(b, "-%c%s", o->letter,
			         *equals && !option_value_is_optional(o) ? "+" : "");
		else
			buf_addf(b, "--%s%s%s", o->name, equals,
			         option_value_is_optional(o) ? "-" : "");
		buf_putc(b, '[');
		add_quoted(b, o->help ? o->help : "", "[]:\\");
		buf_putc(b, ']');
		if (!by_letter || !option_value_is_optional(o))
			add_zsh_argument(b, o);
		buf_puts(b, "' \\\n");
	}
}

static void add_zsh_options(struct buf *b, const struct command *command)
{
	struct option_table table;

	option_table_init(&table, command->options);
	vec_each (o, &table.rows)
		if (o->kind != OPTION_GROUP)
			add_zsh_option(b, o);
	option_table_done(&table);
	buf_puts(b, "\t\t\t'(- *)'{-h,--help}'[Print help]' \\\n");
}

/* Subcommands come first: they apply if the word after the command is one of their names. */
static void add_zsh_subcommands(struct buf *b, const struct command *command)
{
	if (!command->subcommands)
		return;
	buf_puts(b, "\t\tif (( CURRENT > 2 )); then\n\t\tcase \"$words[2]\" in\n");
	for (size_t i = 0; command->subcommands[i]; i++) {
		buf_addf(b,
		         "\t\t%s)\n\t\t\tshift words\n\t\t\t(( CURRENT-- ))\n"
		         "\t\t\t_arguments -s \\\n",
		         command_word(command->subcommands[i]));
		add_zsh_options(b, command->subcommands[i]);
		buf_puts(b, "\t\t\t'*:file:_files'\n\t\t\treturn\n\t\t\t;;\n");
	}
	buf_puts(b, "\t\tesac\n\t\tfi\n");
}

static void add_zsh_arguments(struct buf *b, const struct command *command)
{
	buf_puts(b, "\t\t_arguments -s \\\n");
	add_zsh_options(b, command);
	if (!strcmp(command->name, "help")) {
		buf_puts(b, "\t\t\t'1:command:(");
		add_help_words(b);
		buf_puts(b, ")'\n\t\t;;\n");
		return;
	}
	if (command->subcommands) {
		buf_puts(b, "\t\t\t'1:command: _alternative \"words:command:(");
		add_sub_words(b, command);
		buf_puts(b, ")\" \"files:file:_files\"' \\\n");
	}
	buf_puts(b, "\t\t\t'*:file:_files'\n\t\t;;\n");
}

static void add_zsh(struct buf *b)
{
	buf_puts(b, "#compdef assay\n"
	            "# assay's completion for zsh, made by 'assay help --completion zsh'.\n"
	            "_assay()\n{\n\tlocal -a names\n\tnames=(\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_addf(b, "\t\t'%s:", commands[i]->name);
		add_quoted(b, commands[i]->summary, ":\\");
		buf_puts(b, "'\n");
	}
	buf_puts(b, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command names\n"
	            "\t\treturn\n\tfi\n\tshift words\n\t(( CURRENT-- ))\n"
	            "\tcase \"$words[1]\" in\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_addf(b, "\t%s)\n", commands[i]->name);
		add_zsh_subcommands(b, commands[i]);
		add_zsh_arguments(b, commands[i]);
	}
	buf_puts(b, "\tesac\n}\n"
	            "if [ \"$funcstack[1]\" = _assay ]; then\n\t_assay \"$@\"\n"
	            "else\n\tcompdef _assay assay\nfi\n");
}

static void add_fish_option(struct buf *b, const struct command *command, const struct option *o)
{
	int first = (int)strcspn(command->name, " ");

	buf_addf(b, "complete -c assay -n '__fish_seen_subcommand_from %.*s", first, command->name);
	if (command->name[first])
		buf_addf(b, "; and __fish_seen_subcommand_from %s", command_word(command));
	buf_putc(b, '\'');
	if (o->letter)
		buf_addf(b, " -s %c", o->letter);
	if (o->name)
		buf_addf(b, " -l %s", o->name);
	if (option_takes_value(o) && !option_value_is_optional(o))
		buf_puts(b, " -r");
	if (o->choices) {
		buf_puts(b, " -f -a '");
		add_choices(b, o->choices);
		buf_putc(b, '\'');
	}
	buf_puts(b, " -d '");
	for (const char *c = o->help ? o->help : ""; *c; c++)
		buf_addf(b, *c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
	buf_puts(b, "'\n");
}

static void add_fish_options(struct buf *b, const struct command *command)
{
	static const struct option help = {OPTION_FLAG, 'h', "help", .help = "Print help"};
	struct option_table table;

	option_table_init(&table, command->options);
	vec_each (o, &table.rows)
		if (o->kind != OPTION_GROUP)
			add_fish_option(b, command, o);
	add_fish_option(b, command, &help);
	option_table_done(&table);
	if (!command->subcommands)
		return;
	for (size_t i = 0; command->subcommands[i]; i++)
		add_fish_options(b, command->subcommands[i]);
	buf_addf(b,
	         "complete -c assay -n '__fish_seen_subcommand_from %s; and not "
	         "__fish_seen_subcommand_from ",
	         command->name);
	add_sub_words(b, command);
	buf_puts(b, "' -a '");
	add_sub_words(b, command);
	buf_puts(b, "'\n");
}

static void add_fish(struct buf *b)
{
	buf_puts(b, "# assay's completion for fish, made by 'assay help --completion fish'.\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_addf(b, "complete -c assay -f -n __fish_use_subcommand -a %s -d '",
		         commands[i]->name);
		for (const char *c = commands[i]->summary; *c; c++)
			buf_addf(b, *c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
		buf_puts(b, "'\n");
		add_fish_options(b, commands[i]);
	}
	buf_puts(b, "complete -c assay -f -n '__fish_seen_subcommand_from help' -a '");
	add_command_names(b); /* the words of its subcommands are above */
	buf_puts(b, "'\n");
}

int command_print_completion(const char *shell)
{
	struct buf b = {0};

	if (!strcmp(shell, "bash"))
		add_bash(&b);
	else if (!strcmp(shell, "zsh"))
		add_zsh(&b);
	else if (!strcmp(shell, "fish"))
		add_fish(&b);
	else
		return -1;
	print_text(&b);
	buf_done(&b);
	return 0;
}
