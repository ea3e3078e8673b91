/* SPDX-License-Identifier: GPL-2.0-or-later */
/* man: man pages with the old "man" macros, which every man(1) supports. */
#include "cmd/cli/command.h"
#include "cmd/cli/print.h"

#include "base/memory/buf.h"
#include "cmd/cli/option.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Escapes text for roff: no line begins with a control character, and dashes stay ASCII. */
static void add_roff(struct buf *b, const char *text, size_t length)
{
	bool line_begins = !b->size || b->data[b->size - 1] == '\n';

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (line_begins && (c == '.' || c == '\''))
			buf_puts(b, "\\&");
		if (c == '\\')
			buf_puts(b, "\\e");
		else if (c == '-')
			buf_puts(b, "\\-");
		else if (c == '\'')
			buf_puts(b, "\\(aq");
		else
			buf_putc(b, c);
		line_begins = c == '\n';
	}
}

static void add_text(struct buf *b, const char *text)
{
	add_roff(b, text, strlen(text));
}

/*
 * Writes each sentence on its own line, as is usual for man pages; an empty line starts a
 * paragraph.
 */
static void add_paragraphs(struct buf *b, const char *text)
{
	while (*text) {
		size_t length = 0;

		while (text[length] && text[length] != '\n' &&
		       !(text[length] == ' ' && length && text[length - 1] == '.'))
			length++;
		add_roff(b, text, length);
		if (length)
			buf_putc(b, '\n');
		text += length;
		if (!strncmp(text, "\n\n", 2))
			buf_puts(b, ".PP\n");
		text += strspn(text, " \n");
	}
}

static void add_upper(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_putc(b, (char)toupper((unsigned char)*text));
}

static void add_heading(struct buf *b, const char *title, const char *summary)
{
	buf_puts(b, ".TH ");
	add_upper(b, title);
	buf_puts(b, " 1 \"\" \"assay " ASSAY_VERSION "\" \"User Commands\"\n.SH NAME\n");
	add_text(b, title);
	buf_puts(b, " \\- ");
	add_text(b, summary);
	buf_putc(b, '\n');
}

/* Adds a line of help as a sentence. */
static void add_sentence(struct buf *b, const char *help)
{
	buf_putc(b, (char)toupper((unsigned char)help[0]));
	add_text(b, help + 1);
	buf_puts(b, help[strlen(help) - 1] == '.' ? "\n" : ".\n");
}

static void add_option(struct buf *b, const struct option *o)
{
	char name[64];

	if (o->kind == OPTION_GROUP) {
		buf_puts(b, ".SS ");
		add_text(b, o->help ? o->help : o->name);
		buf_putc(b, '\n');
		return;
	}
	option_argument_name(o, name, sizeof(name));
	buf_puts(b, ".TP\n");
	if (o->letter)
		buf_addf(b, "\\fB\\-%c\\fR", o->letter);
	if (o->letter && o->name)
		buf_puts(b, ", ");
	if (o->name) {
		buf_puts(b, "\\fB\\-\\-");
		add_text(b, o->name);
		buf_puts(b, "\\fR");
	}
	if (name[0]) {
		buf_puts(b, option_value_is_optional(o) ? "[=" : o->name ? "=" : " ");
		buf_puts(b, "\\fI");
		add_text(b, name);
		buf_puts(b, option_value_is_optional(o) ? "\\fR]" : "\\fR");
	}
	buf_putc(b, '\n');
	if (o->help)
		add_sentence(b, o->help);
	if (o->details)
		add_paragraphs(b, o->details);
	if (o->details ? o->choices != NULL : option_shows_choices(o)) {
		buf_puts(b, "Values: ");
		for (const char *c = o->choices; *c; c++) {
			add_roff(b, c, 1);
			if (*c == ',')
				buf_putc(b, ' ');
		}
		buf_puts(b, ".\n");
	}
}

static void add_subcommands(struct buf *b, const struct command *command)
{
	struct option_table table;

	if (!command->subcommands)
		return;
	buf_puts(b, ".SH COMMANDS OF ITS OWN\n");
	for (size_t i = 0; command->subcommands[i]; i++) {
		const struct command *sub = command->subcommands[i];

		buf_puts(b, ".SS assay ");
		add_text(b, sub->name);
		buf_putc(b, ' ');
		add_text(b, sub->synopsis);
		buf_putc(b, '\n');
		add_paragraphs(b, sub->description ? sub->description : sub->summary);
		option_table_init(&table, sub->options);
		vec_each (o, &table.rows)
			if (o->kind != OPTION_GROUP)
				add_option(b, o);
		option_table_done(&table);
	}
}

static void add_options(struct buf *b, const struct command *command)
{
	static const struct option help = {OPTION_FLAG, 'h', "help",
	                                   .help = "print a summary of the options"};
	struct option_table table;

	buf_puts(b, ".SH OPTIONS\n");
	option_table_init(&table, command->options);
	vec_each (o, &table.rows)
		add_option(b, o);
	add_option(b, &help);
	option_table_done(&table);
}

/* Lines without indentation are commands; indented lines describe them. */
static void add_examples(struct buf *b, const char *text)
{
	buf_puts(b, ".SH EXAMPLES\n");
	while (*text) {
		size_t length = strcspn(text, "\n"), spaces = strspn(text, " ");

		if (length && !spaces)
			buf_puts(b, ".TP\n\\fB");
		if (length && spaces <= length) {
			add_roff(b, text + spaces, length - spaces);
			buf_puts(b, spaces ? "\n" : "\\fR\n");
		}
		text += length + (text[length] == '\n');
	}
}

static void add_exit_status(struct buf *b, bool runs_command)
{
	buf_puts(b, ".SH EXIT STATUS\n0 on success, 1 on failure, 2 on wrong use");
	buf_puts(b, runs_command ? "; with COMMAND, its exit status.\n" : ".\n");
}

static void add_see_also(struct buf *b, const struct command *self)
{
	const char *comma = "";

	buf_puts(b, ".SH SEE ALSO\n");
	if (self) {
		buf_puts(b, ".BR assay (1)");
		comma = ",\n";
	}
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i] == self)
			continue;
		buf_addf(b, "%s.BR assay\\-%s (1)", comma, commands[i]->name);
		comma = ",\n";
	}
	buf_putc(b, '\n');
}

static void add_command(struct buf *b, const struct command *command)
{
	char title[64];
	const char *synopsis = command->synopsis ? command->synopsis : "";

	snprintf(title, sizeof(title), "assay-%s", command->name);
	add_heading(b, title, command->summary);
	buf_puts(b, ".SH SYNOPSIS\n\\fBassay ");
	add_text(b, command->name);
	buf_puts(b, "\\fR ");
	add_text(b, synopsis);
	buf_puts(b, "\n.SH DESCRIPTION\n");
	add_paragraphs(b, command->description ? command->description : command->summary);
	add_options(b, command);
	add_subcommands(b, command);
	if (command->examples)
		add_examples(b, command->examples);
	if (command->exit_status) {
		buf_puts(b, ".SH EXIT STATUS\n");
		add_sentence(b, command->exit_status);
	} else {
		add_exit_status(b, strstr(synopsis, "COMMAND [") != NULL);
	}
	add_see_also(b, command);
}

static void add_assay(struct buf *b)
{
	add_heading(b, "assay", "where the time of a whole machine goes");
	buf_puts(b, ".SH SYNOPSIS\n\\fBassay\\fR COMMAND [OPTIONS]\n.SH DESCRIPTION\n");
	add_paragraphs(
	        b, "Measures a Linux machine, kernel and all processes. The time totals are "
	           "checked to add up: each report accounts for all time, and states what was "
	           "not measured, the cost of the measurement, and how exact each figure is.\n\n"
	           "Recordings are perf.data files, which perf can read too.");
	buf_puts(b, ".SH COMMANDS\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_addf(b, ".TP\n.BR assay\\-%s (1)\n", commands[i]->name);
		add_sentence(b, commands[i]->summary);
	}
	buf_puts(b, ".SH OPTIONS\n"
	            ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint an overview of the commands.\n"
	            ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nPrint the version.\n");
	add_exit_status(b, false);
	add_see_also(b, NULL);
}

void command_print_man(const struct command *command)
{
	struct buf b = {0};

	if (command)
		add_command(&b, command);
	else
		add_assay(&b);
	print_text(&b);
	buf_done(&b);
}
