/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls list, get and reset: commands for all processes that count their calls. */
#include "base/text/json.h"
#include "base/text/plural.h"
#include "base/file/replace_file.h"
#include "cmd/calls/calls.h"
#include "cmd/report/calls_output.h"
#include "cmd/run_command.h"
#include "cmd/cli/print.h"
#include "output/text/table.h"
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

/* All of the user's tables, or these processes' alone; the exit status. */
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

struct listed {
	const struct call_table *table;
	uint64_t calls;
	uint32_t flags; /* enum call_flag */
	bool counted;   /* calls and flags are valid */
};

static void look_into(struct listed *l)
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

static void add_flags(struct buf *out, uint32_t flags)
{
	const char *comma = "";

	for (unsigned bit = 0; bit < CALL_FLAGS; bit++) {
		/* All listed processes run, so that flag is not shown. */
		if (!(flags & UINT32_C(1) << bit & ~(uint32_t)CALL_RUNNING) || !call_flag_word(bit))
			continue;
		buf_addf(out, "%s%s", comma, call_flag_word(bit));
		comma = ",";
	}
}

static void list_text(struct buf *out, const struct listed *rows, size_t count,
                      const struct text_style *style)
{
	struct table t;

	table_init(&t, style);
	table_column(&t, "PID", TABLE_RIGHT);
	table_column(&t, "since", TABLE_LEFT);
	table_column(&t, "calls", TABLE_RIGHT);
	table_column(&t, "table", TABLE_RIGHT);
	table_column(&t, "flags", TABLE_LEFT);
	table_column(&t, "command", TABLE_LEFT);
	for (size_t i = 0; i < count; i++) {
		const struct call_table *table = rows[i].table;
		struct buf text = {0};

		table_row(&t, TABLE_ROW);
		table_format(&t, "%d", table->file.pid);
		table_date(&t, table->file.start_ns);
		if (rows[i].counted)
			table_count(&t, rows[i].calls);
		else
			table_text(&t, "?");
		text_bytes(&text, table->used_bytes);
		table_text(&t, text.data);
		buf_clear(&text);
		add_flags(&text, rows[i].flags);
		table_text(&t, text.size ? text.data : "-");
		table_text(&t, table->command[0] ? table->command : table->name);
		buf_done(&text);
	}
	table_print(&t, out);
	table_done(&t);
}

static void list_json(struct buf *out, const struct listed *rows, size_t count, size_t ended)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_key(&j, "processes");
	json_array(&j);
	for (size_t i = 0; i < count; i++) {
		const struct call_table *table = rows[i].table;

		json_object(&j);
		json_ki64(&j, "pid", table->file.pid);
		json_kstr(&j, "name", table->name);
		json_kstr(&j, "command", table->command);
		json_key(&j, "calls");
		if (rows[i].counted)
			json_u64(&j, rows[i].calls);
		else
			json_null(&j);
		json_key(&j, "flags");
		json_array(&j);
		for (unsigned bit = 0; bit < CALL_FLAGS; bit++)
			if (rows[i].flags & UINT32_C(1) << bit && call_flag_word(bit))
				json_str(&j, call_flag_word(bit));
		json_end_array(&j);
		json_ku64(&j, "start_ns", table->file.start_ns);
		json_ku64(&j, "table_bytes", table->used_bytes);
		json_kstr(&j, "table", table->file.path);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_ku64(&j, "ended", ended);
	json_end_object(&j);
	buf_putc(out, '\n');
}

static int list_run(void *data, int argc, char **argv)
{
	const struct calls_list_options *o = data;
	VEC(struct listed) rows = {0};
	call_table_list list = {0};
	struct text_style style;
	struct buf out = {0};
	int status;

	status = find_tables(&list, "calls list", argc, argv);
	vec_each (table, &list)
		if (table->file.running)
			vec_push(&rows, (struct listed){.table = table});
	vec_each (row, &rows)
		if (!status)
			look_into(row);
	style_choose(&o->style, &style);
	if (!status && o->json)
		list_json(&out, rows.items, rows.count, list.count - rows.count);
	else if (!status && rows.count)
		list_text(&out, rows.items, rows.count, &style);
	print_text(&out);
	if (!status && !o->json && !rows.count)
		print_message("no process of yours counts calls now");
	if (!status && !o->json && list.count > rows.count)
		print_message("%zu %s of exited processes: 'assay calls get' reports "
		              "them, 'assay calls reset' removes them",
		              list.count - rows.count,
		              plural(list.count - rows.count, "table", "tables"));
	buf_done(&out);
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
	if (o->output && replace_file_check(o->output, &err))
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
        {OPTION_FLAG, .name = "json", .help = "print the list as JSON",
         .details = "\"processes\", each with \"pid\", \"name\", \"command\", \"calls\" so far, "
                    "\"flags\", \"start_ns\" (since 1970), \"table_bytes\" and \"table\", a path; "
                    "and \"ended\", the number of tables whose processes have exited.",
         .offset = LIST_AT(json)},
        {.kind = OPTION_INCLUDE, .include = style_option_table, .offset = LIST_AT(style)},
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
