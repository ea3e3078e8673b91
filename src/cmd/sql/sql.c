/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql: SQL queries on a recording or a store. */
#include "base/limit.h"
#include "cmd/cli/command.h"
#include "cmd/report/report_groups.h"
#include "cmd/sql/sql_output.h"
#include "cmd/sql/sql_shell.h"
#include "cmd/sql/sql_source.h"
#include "cmd/cli/style.h"
#include "format/file_kind.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define WINDOW_SECONDS_MAX 1e9

extern const struct command cmd_sql;

struct sql_options {
	struct load_options load;
	struct style_options style;
	const char *format, *groups;
	double window;
};

#define AT(field) offsetof(struct sql_options, field)

static const struct option options[] = {
        {OPTION_STRING, 0, "format", "FORMAT",
         "the output format: table (the default), csv or json", .choices = SQL_FORMATS,
         .details = "table: aligned columns; control characters in names are printed as \\x1b. "
                    "csv: RFC 4180, with lines that end in LF, and a header line. json: an "
                    "array with one object per row, numbers as numbers.",
         .offset = AT(format)},
        {OPTION_NUMBER, 0, "window", "SECONDS", "length of the windows of a recording (default 1)",
         .details = "For `windows` and `samples.window`. A store has the windows of its "
                    "measurements.",
         .offset = AT(window)},
        {OPTION_STRING, 0, "groups", "FILE",
         "rules for by_group and function_group() before those of assay (as for 'assay report')",
         .offset = AT(groups)},
        {.kind = OPTION_GROUP, .help = "A store on a server"},
        {OPTION_STRING, 0, "from", "TIME",
         "read windows from this time on alone (10:00, 2026-11-21T10:00, yesterday, -2h)",
         .details = "The server sends only this part, which is then asked in memory. Of a file "
                    "conditions on samples.time_ns read a part.",
         .offset = AT(load.from)},
        {OPTION_STRING, 0, "until", "TIME", "read windows up to this time alone",
         .offset = AT(load.to)},
        {OPTION_STRING, 0, "host", "NAME",
         "read this machine alone, or several: 'web*' (default: all)", .offset = AT(load.host)},
        {OPTION_STRING, 0, "service", "NAME",
         "read samples of this service alone, or of several: 'web*'", .offset = AT(load.service)},
        {OPTION_STRING, 0, "build", "VERSION",
         "read samples of programs of this version alone, or of several: '1.2*'",
         .offset = AT(load.build)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_GROUP, .help = "Output"},
        {.kind = OPTION_INCLUDE, .include = style_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static int read_input(struct buf *text)
{
	char bytes[65536];
	ssize_t got;

	while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return command_fail(1, "sql: cannot read standard input: %s",
			                    strerror(errno));
		if (text->size + (size_t)got > LIMIT_QUERY_BYTES)
			return command_fail(1, "sql: more than %zu MB of SQL on standard input",
			                    LIMIT_QUERY_BYTES >> 20);
		buf_add(text, bytes, (size_t)got);
	}
	return 0;
}

static int ask(struct sql *s, const struct sql_options *o, const char *query)
{
	enum sql_format format;

	sql_format_parse(o->format, &format);
	return sql_output_ask(s, query, format, &o->style);
}

static int ask_input(struct sql *s, const struct sql_options *o)
{
	struct buf text = {0};
	int status = read_input(&text);

	buf_puts(&text, ""); /* the text is not NULL, even if it is empty */
	if (!status && strlen(buf_text(&text)) != text.size)
		status = command_fail(1, "sql: standard input is not SQL: it contains a zero byte");
	if (!status)
		status = sql_shell_text(s, o->format, &o->style, text.data);
	buf_done(&text);
	return status;
}

/* True for a query in the place of the file; other tools have a default file. */
static bool is_query(const char *word)
{
	return (!strncasecmp(word, "select ", 7) || !strncasecmp(word, "with ", 5)) &&
	       access(word, F_OK);
}

/* Checks the use. Returns 0, or the exit status after a message. */
static int check(const struct sql_options *o, int argc, char **argv)
{
	if (argc < 1)
		return command_fail(2,
		                    "sql: FILE is missing: a recording, or a store of 'assay start "
		                    "--store'");
	if (is_query(argv[0]))
		return command_fail(2, "sql: the FILE comes before the query: assay sql FILE '%s'",
		                    argv[0]);
	if (argc > 2)
		return command_fail(2,
		                    "sql: takes one FILE and one QUERY, so '%s' is too many: put "
		                    "the query in quotes",
		                    argv[2]);
	if (argc == 1 && !strcmp(argv[0], "-"))
		return command_fail(2, "sql: standard input cannot be both the recording and the "
		                       "query");
	if (o->window && file_kind_of(argv[0], NULL) == FILE_STORE)
		return command_fail(2,
		                    "sql: --window: %s is a store, which has the windows of its "
		                    "measurements",
		                    argv[0]);
	if (o->window < 0 || (o->window > 0 && o->window < 0.001) || o->window > WINDOW_SECONDS_MAX)
		return command_fail(2, "sql: --window needs a number of seconds, at least 0.001");
	return 0;
}

static int answer(struct sql *s, const struct sql_options *o, int argc, char **argv)
{
	if (argc == 2 && *argv[1] == '.')
		return sql_shell_dot(s, o->format, &o->style, argv[1]);
	if (argc == 2)
		return ask(s, o, argv[1]);
	if (!isatty(STDIN_FILENO))
		return ask_input(s, o);
	return sql_shell(s, o->format, &o->style, argv[0]);
}

static int run(void *p, int argc, char **argv)
{
	struct sql_options *o = p;
	struct sql_source source;
	struct group_rules *rules = NULL;
	struct error err = {0};
	int status = check(o, argc, argv);

	if (status)
		return status;
	if (o->groups && report_groups_read(&rules, o->groups, true, &err))
		return command_fail(1, "sql: %s", err.text);
	o->load.window_ns = (uint64_t)(o->window * 1e9);
	if (sql_source_open(&source, argv[0], &o->load, &err)) {
		status = sql_output_fail(&err);
	} else {
		sql_use_groups(source.sql, rules);
		status = answer(source.sql, o, argc, argv);
	}
	sql_source_close(&source);
	group_rules_free(rules);
	return status;
}

const struct command cmd_sql = {
        .name = "sql",
        .synopsis = "[OPTIONS] FILE [QUERY]",
        .summary = "query a recording or a store in SQL",
        .description =
                "Shows any recording (perf.data, call paths, event tags, pprof) or a store of "
                "'assay start --store' as tables of SQLite, with the same names and columns: "
                "samples, processes, threads, images, functions, frames, stacks, windows, "
                "ledger, calls, events and more; and views for common queries: "
                "by_application, by_application_address, by_function, by_group, by_process, "
                "by_thread, by_cpu, by_mode, by_minute, by_cgroup, and diff(a_from, a_to, b_from, "
                "b_to) of "
                "two time ranges. docs/SQL.md explains each column. Nothing is copied: a "
                "recording's tables are read from the loaded data.\n\n"
                "QUERY is one or more statements. Without it they are read from standard input; "
                "at a terminal there is a prompt with history, and .help lists its "
                "commands.\n\n"
                "FILE is never written, and a store of another user cannot run code: "
                "ATTACH, settings and writes are refused. CREATE TEMP TABLE and CREATE TEMP "
                "VIEW last until the command ends.",
        .examples = "assay sql perf.data 'SELECT * FROM by_function LIMIT 10'\n"
                    "    the functions with most time\n"
                    "assay sql --format csv perf.data 'SELECT * FROM by_minute' > minutes.csv\n"
                    "    rows for a spreadsheet\n"
                    "assay sql --host web1 --from -1h clickhouse://db.example.com/assay 'SELECT * "
                    "FROM by_function LIMIT 10'\n"
                    "    the last hour of one machine of a store on a server\n"
                    "assay sql history.db\n"
                    "    a prompt for queries\n",
        .options = options,
        .options_size = sizeof(struct sql_options),
        .opens_images = true,
        .run = run,
};
