/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls list, get and reset: commands for all processes that count their calls. */
#include "base/text/plural.h"
#include "cmd/calls/calls.h"
#include "cmd/report/calls_output.h"
#include "cmd/cli/medium.h"
#include "cmd/run_command.h"
#include "cmd/cli/output_file.h"
#include "cmd/cli/print.h"
#include "view/calls/call_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct calls_list_options {
	bool json;
	struct style_options style;
};

struct calls_get_options {
	const char *output;
	bool quiet;
	struct calls_output_options report;
};

struct reset_options {
	bool quiet;
};

/* Finds the tables of all of the user's processes, or only of the given processes. Returns the exit
 * status. */
static int find_tables(call_table_list *list, const char *command, int argc, char **argv)
{
	struct error err = {0};

	if (calls_tables_all(list, &err))
		return command_fail(1, "%s: %s", command, err.text);
	return run_choose(
	        command,
	        "is not a process of yours that counts calls; 'assay calls list' lists them", argc,
	        argv, list->items, &list->count, sizeof(*list->items));
}

/* list */

struct listed_table {
	const struct call_table *table;
	uint64_t calls;
	uint32_t flags; /* enum call_flag */
	bool counted;   /* calls and flags are valid */
};

static void look_into(struct listed_table *l)
{
	call_table_list one = {.items = (struct call_table *)(uintptr_t)l->table, .count = 1};
	struct call_paths *paths = call_paths_new();
	calls_notes notes = {0};

	if (!calls_tables_read(paths, &one, &notes, NULL) && paths->processes.count) {
		l->counted = true;
		l->calls = call_process_calls(&paths->processes.items[0]);
		l->flags = paths->processes.items[0].flags;
	}
	calls_notes_done(&notes);
	call_paths_free(paths);
}

enum calls_listed_cell { LIST_PID, LIST_SINCE, LIST_CALLS, LIST_TABLE, LIST_COMMAND, LIST_FLAGS };

static struct cell listed_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct listed_table *l = &((const struct listed_table *)s->model)[row];
	const struct call_table *table = l->table;

	switch ((enum calls_listed_cell)c->argument) {
	case LIST_PID:
		return cell_int(table->file.pid);
	case LIST_SINCE:
		return cell_int((int64_t)table->file.start_ns);
	case LIST_CALLS:
		return l->counted ? cell_int((int64_t)l->calls) : cell_none();
	case LIST_TABLE:
		return cell_int((int64_t)table->used_bytes);
	case LIST_COMMAND:
		return cell_text(table->command[0] ? table->command : table->name);
	default:
		break;
	}
	for (unsigned bit = 0; bit < CALL_FLAGS; bit++)
		/* All listed processes run, so that flag is not shown. */
		if (l->flags & UINT32_C(1) << bit & ~(uint32_t)CALL_RUNNING && call_flag_word(bit))
			buf_addf(text, "%s%s", text->size ? "," : "", call_flag_word(bit));
	return cell_text(buf_text(text));
}

/* The columns for programs that are not numbers. */
static void listed_json(const struct row_source *s, const struct column *c, uint32_t row,
                        struct json *j)
{
	const struct listed_table *l = &((const struct listed_table *)s->model)[row];

	json_kstr(j, "name", l->table->name);
	json_kstr(j, "command", l->table->command);
	json_kstr(j, "table", l->table->file.path);
	json_key(j, "flags");
	json_array(j);
	for (unsigned bit = 0; bit < CALL_FLAGS; bit++)
		if (l->flags & UINT32_C(1) << bit && call_flag_word(bit))
			json_str(j, call_flag_word(bit));
	json_end_array(j);
}

#define LISTED(cell) .argument = cell, .get = listed_cell

static const struct column listed_columns[] = {
        {"pid", "PID", "pid", &unit_number, LISTED(LIST_PID)},
        {"since", "since", "start_ns", &unit_date, LISTED(LIST_SINCE)},
        {"calls", "calls", "calls", &unit_count, LISTED(LIST_CALLS)},
        {"table", "table", "table_bytes", &unit_bytes, LISTED(LIST_TABLE)},
        {"flags", "flags", .unit = &unit_text, .json = listed_json, LISTED(LIST_FLAGS)},
        {"command", "command", NULL, &unit_text, LISTED(LIST_COMMAND)},
};

static int list_print(struct listed_table *rows, size_t count, size_t ended,
                      const struct document_reader *reader, const struct style_options *style)
{
	struct row_source *s = row_source_new(rows);
	const struct row_request all = {0};
	struct document d;
	int status;

	s->rows = (uint32_t)count;
	s->no_total = true;
	row_source_columns(s, listed_columns, sizeof(listed_columns) / sizeof(*listed_columns));
	document_init(&d);
	document_table(&d, count ? MEDIA_ALL : MEDIA_PROGRAMS, NULL, "processes",
	               row_set_new(s, &all));
	document_int(&d, "ended", (int64_t)ended);
	status =
	        medium_show(&(struct page){.kind = "status", .title = "calls list", .document = &d},
	                    reader, style, "calls list");
	document_done(&d);
	return status;
}

static int list_run(void *data, int argc, char **argv)
{
	const struct calls_list_options *o = data;
	const struct document_reader reader = {.program = o->json};
	VEC(struct listed_table) rows = {0};
	call_table_list list = {0};
	int status;

	status = find_tables(&list, "calls list", argc, argv);
	vec_each (table, &list)
		if (table->file.running)
			vec_push(&rows, (struct listed_table){.table = table});
	vec_each (row, &rows)
		if (!status)
			look_into(row);
	if (!status)
		status = list_print(rows.items, rows.count, list.count - rows.count, &reader,
		                    &o->style);
	if (!status && !o->json && !rows.count)
		print_message("no process of yours counts calls now");
	if (!status && !o->json && list.count > rows.count)
		print_message("%zu %s of exited processes: 'assay calls get' reports "
		              "them, 'assay calls reset' removes them",
		              list.count - rows.count,
		              plural(list.count - rows.count, "table", "tables"));
	vec_done(&rows);
	call_table_list_done(&list);
	return status;
}

/* get */

static int get_tables(const struct calls_get_options *o, const call_table_list *list)
{
	struct calls_output to = {
	        .command = "calls get", .file = o->output, .print = !o->output, .quiet = o->quiet};
	struct call_paths *paths = call_paths_new();
	struct error err = {0};
	calls_notes notes = {0};
	int status;

	if (calls_tables_read(paths, list, &notes, &err)) {
		status = command_fail(1, "calls get: %s", err.text);
	} else if (!paths->processes.count) {
		status = command_fail(1,
		                      "calls get: no process of yours counts calls, and no exited "
		                      "process left a table; 'assay calls -- COMMAND' runs one");
	} else {
		calls_output_notes(&notes);
		status = calls_output(paths, &to, &o->report);
	}
	calls_notes_done(&notes);
	call_paths_free(paths);
	return status;
}

static void get_defaults(void *data)
{
	struct calls_get_options *o = data;

	calls_output_defaults(&o->report);
}

static int get_run(void *data, int argc, char **argv)
{
	const struct calls_get_options *o = data;
	call_table_list list = {0};
	struct error err = {0};
	int status;

	if (calls_output_check("calls get", &o->report))
		return 2;
	if (o->output && output_file_check(o->output, FILE_CALLS, &err))
		return command_fail(1, "calls get: %s", err.text);
	status = find_tables(&list, "calls get", argc, argv);
	if (!status)
		status = get_tables(o, &list);
	call_table_list_done(&list);
	return status;
}

/* reset */

/* "2 processes start again at zero: 17 lua, 18 lua" */
static void print_reset(const call_table_list *list, bool running, const char *one,
                        const char *many)
{
	struct buf names = {0};
	size_t count = 0;

	vec_each (table, list) {
		if (table->file.running != running)
			continue;
		buf_addf(&names, "%s%d %s", count++ ? ", " : "", table->file.pid, table->name);
	}
	if (count)
		print_line("%zu %s: %s", count, plural(count, one, many), names.data);
	buf_done(&names);
}

static int reset_run(void *data, int argc, char **argv)
{
	const struct reset_options *o = data;
	call_table_list list = {0};
	struct error err = {0};
	int status = find_tables(&list, "calls reset", argc, argv);

	if (!status && calls_tables_reset(&list, &err))
		status = command_fail(1, "calls reset: %s", err.text);
	if (!status && !o->quiet) {
		print_reset(&list, true, "process starts again at zero",
		            "processes start again at zero");
		print_reset(&list, false, "table of an exited process is removed",
		            "tables of exited processes are removed");
		if (!list.count)
			print_line("no process of yours counts calls: nothing to reset");
	}
	call_table_list_done(&list);
	return status;
}

#define LIST_AT(field) offsetof(struct calls_list_options, field)
#define GET_AT(field) offsetof(struct calls_get_options, field)

static const struct option list_table[] = {
        {OPTION_FLAG, 0, "json", NULL, "print the list as JSON",
         .details = "\"processes\", each with \"pid\", \"name\", \"command\", \"calls\" so far, "
                    "\"flags\", \"start_ns\" (since 1970), \"table_bytes\" and \"table\", a path; "
                    "and \"ended\", the number of tables whose processes have exited.",
         .offset = LIST_AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = LIST_AT(style)},
        {.kind = OPTION_END},
};

static const struct option get_table[] = {
        {OPTION_STRING, 'o', "output", .argument = "FILE",
         .help = "write the counts to FILE for 'assay report'; print no report",
         .offset = GET_AT(output)},
        {OPTION_FLAG, 'q', "quiet", .help = "print no closing line", .offset = GET_AT(quiet)},
        {.kind = OPTION_INCLUDE, .include = calls_output_option_table, .offset = GET_AT(report)},
        {.kind = OPTION_END},
};

static const struct option reset_table[] = {
        {OPTION_FLAG, 'q', "quiet", .help = "do not name the processes",
         .offset = offsetof(struct reset_options, quiet)},
        {.kind = OPTION_END},
};

const struct command calls_list = {
        .name = "calls list",
        .synopsis = "[OPTIONS] [PID...]",
        .summary = "list the running processes that count their calls",
        .description = "Lists the running processes of this user that count their calls, with the "
                       "number of calls so far. Root also sees only its own processes; for those "
                       "of another user: sudo -u USER assay calls list.",
        .options = list_table,
        .options_size = sizeof(struct calls_list_options),
        .run = list_run,
};

const struct command calls_get = {
        .name = "calls get",
        .synopsis = "[OPTIONS] [PID...]",
        .summary = "report their current counts, and those of exited processes",
        .description = "Reports the current counts of all processes, or of the given ones, and of "
                       "exited processes that left their table. No process is stopped: running "
                       "processes continue to count.",
        .options = get_table,
        .options_size = sizeof(struct calls_get_options),
        .defaults = get_defaults,
        .run = get_run,
};

const struct command calls_reset = {
        .name = "calls reset",
        .synopsis = "[OPTIONS] [PID...]",
        .summary = "set the counts of all of them to zero",
        .description = "The counts of all processes, or of the given ones, start again at zero, "
                       "also those of blocked threads. Tables of exited processes are "
                       "removed. The processes are listed.",
        .options = reset_table,
        .options_size = sizeof(struct reset_options),
        .run = reset_run,
};
