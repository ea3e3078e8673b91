/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/sql/sql_shell.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "cmd/cli/command.h"
#include "cmd/cli/line_editor.h"
#include "cmd/cli/print.h"
#include "cmd/sql/sql_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by Ctrl-C. */
static volatile sig_atomic_t interrupted;

struct shell {
	struct sql *sql;
	enum sql_format format;
	const struct style_options *style;
	bool quit;
};

static void on_interrupt(int signal)
{
	interrupted = 1;
}

static const char help_text[] = "A statement ends with ; and may take several lines.\n"
                                ".tables           the tables and views\n"
                                ".schema [TABLE]   their columns\n"
                                ".mode MODE        table, csv or json\n"
                                ".help             this\n"
                                ".quit             ends; so does Ctrl-D\n"
                                "Ctrl-C ends the statement that runs or is being typed.\n";

static void print_help(void)
{
	struct buf text = {0};

	buf_puts(&text, help_text);
	print_text(&text);
	buf_done(&text);
}

static int ask(struct shell *sh, const char *query)
{
	return sql_output_ask(sh->sql, query, sh->format, sh->style);
}

static void print_plain(const struct buf *text)
{
	print_text(text);
	fflush(stdout);
}

static int tell_schema(struct shell *sh, const char *table)
{
	struct buf text = {0};
	struct error err = {0};
	int status = 0;

	if (sql_describe(sh->sql, table, &text, &err))
		status = sql_output_fail(&err);
	else
		print_plain(&text);
	buf_done(&text);
	return status;
}

static int set_mode(struct shell *sh, const char *mode)
{
	enum sql_format format;

	if (!mode || !sql_format_parse(mode, &format))
		return command_fail(1, "sql: .mode takes one of " SQL_FORMATS);
	sh->format = format;
	return 0;
}

static int run_dot(struct shell *sh, const char *line)
{
	char *copy = xstrdup(line), *rest = copy;
	const char *word = strsep(&rest, " \t\r;"), *argument;
	int status = 0;

	if (rest)
		rest += strspn(rest, " \t\r;");
	argument = rest && *rest ? strsep(&rest, " \t\r;") : NULL;
	if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
		sh->quit = true;
	else if (!strcmp(word, ".help"))
		print_help();
	else if (!strcmp(word, ".tables"))
		status = ask(
		        sh,
		        "SELECT name, type FROM temp.sqlite_master WHERE type IN ('table', 'view') "
		        "ORDER BY type, name");
	else if (!strcmp(word, ".schema"))
		status = tell_schema(sh, argument);
	else if (!strcmp(word, ".mode"))
		status = set_mode(sh, argument);
	else
		status = command_fail(1, "sql: there is no %s; .help lists the commands", word);
	fflush(stdout);
	free(copy);
	return status;
}

int sql_shell_dot(struct sql *s, const char *format, const struct style_options *style,
                  const char *line)
{
	struct shell sh = {.sql = s, .style = style};

	sql_format_parse(format, &sh.format);
	return run_dot(&sh, line);
}

/* True if the text contains no open statement, only `;` and comments. */
static bool is_between(const struct buf *statements)
{
	struct buf text = {0};
	bool between;

	buf_addf(&text, ";%s", buf_text(statements));
	between = sql_is_complete(buf_text(&text));
	buf_done(&text);
	return between;
}

int sql_shell_text(struct sql *s, const char *format, const struct style_options *style, char *text)
{
	struct shell sh = {.sql = s, .style = style};
	struct buf statements = {0};
	size_t lines = 0;
	int status = 0;
	char *line;

	sql_format_parse(format, &sh.format);
	while (!status && !sh.quit && (line = strsep(&text, "\n"))) {
		lines++;
		if (*line != '.' || !is_between(&statements)) {
			buf_addf(&statements, "%s\n", line);
			continue;
		}
		status = ask(&sh, buf_text(&statements));
		buf_clear(&statements);
		buf_pad(&statements, '\n', lines); /* errors contain the line */
		if (!status)
			status = run_dot(&sh, line);
	}
	if (!status && !sh.quit)
		status = ask(&sh, buf_text(&statements));
	buf_done(&statements);
	return status;
}

/* True if there is no statement yet. */
static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\n;")];
}

/* Ctrl-C may also interrupt a write to the terminal, which is no failure of the output. */
static void forget_interrupt(void)
{
	interrupted = 0;
	clearerr(stdout);
}

static void loop(struct shell *sh, struct line_editor *editor)
{
	struct buf statement = {0};
	const char *line;

	while (!sh->quit) {
		bool more = !is_blank(buf_text(&statement));
		enum line_result result =
		        line_editor_read(editor, more ? "   ...> " : "assay> ", &line);

		if (result == LINE_BROKEN) {
			forget_interrupt();
			buf_clear(&statement);
			print_line("%s", "");
			continue;
		}
		if (result == LINE_END)
			break;
		if (!more && *line == '.') {
			run_dot(sh, line);
			continue;
		}
		buf_addf(&statement, "%s\n", line);
		if (is_blank(buf_text(&statement)))
			buf_clear(&statement);
		if (!sql_is_complete(buf_text(&statement)))
			continue;
		ask(sh, buf_text(&statement));
		forget_interrupt();
		buf_clear(&statement);
	}
	if (!sh->quit)
		print_line("%s", "");
	buf_done(&statement);
}

int sql_shell(struct sql *s, const char *format, const struct style_options *style,
              const char *file)
{
	struct sigaction action = {.sa_handler = on_interrupt}, before; /* no SA_RESTART */
	struct shell sh = {.sql = s, .style = style};
	struct line_editor *editor;
	struct error err = {0};

	sql_format_parse(format, &sh.format);
	/* Errors of the tables are reported before the first prompt. */
	if (sql_run(s, "", NULL, NULL, &err))
		return sql_output_fail(&err);
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, &before);
	sql_stop_when(s, &interrupted);
	print_line("%s: .tables lists the tables, .help the commands", file);
	fflush(stdout);
	editor = line_editor_open("sql", &interrupted);
	loop(&sh, editor);
	line_editor_close(editor);
	sql_stop_when(s, NULL);
	sigaction(SIGINT, &before, NULL);
	return 0;
}
