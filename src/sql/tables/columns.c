/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/tables/columns.h"

#include <string.h>

/* The texts of the columns of a table, separated by ", ". The [2] skips the first separator. */
#define COLUMN_TEXT(number, text) ", " text
#define COLUMN_TEXTS(columns) &(columns(COLUMN_TEXT))[2]

const struct sql_columns sql_columns[] = {
        {.name = "hosts", .columns = COLUMN_TEXTS(SQL_HOSTS_COLUMNS)},
        {.name = "sessions", .columns = COLUMN_TEXTS(SQL_SESSIONS_COLUMNS)},
        {.name = "windows", .columns = COLUMN_TEXTS(SQL_WINDOWS_COLUMNS), .index = "start_ns"},
        {.name = "ledger", .columns = COLUMN_TEXTS(SQL_LEDGER_COLUMNS), .index = "window"},
        {.name = "buffers", .columns = COLUMN_TEXTS(SQL_BUFFERS_COLUMNS), .index = "window"},
        {.name = "gaps", .columns = COLUMN_TEXTS(SQL_GAPS_COLUMNS)},
        {.name = "notes", .columns = COLUMN_TEXTS(SQL_NOTES_COLUMNS)},
        {.name = "processes", .columns = COLUMN_TEXTS(SQL_PROCESSES_COLUMNS), .index = "name"},
        {.name = "threads", .columns = COLUMN_TEXTS(SQL_THREADS_COLUMNS), .index = "process"},
        {.name = "images", .columns = COLUMN_TEXTS(SQL_IMAGES_COLUMNS)},
        {.name = "functions", .columns = COLUMN_TEXTS(SQL_FUNCTIONS_COLUMNS), .index = "name"},
        {.name = "frames", .columns = COLUMN_TEXTS(SQL_FRAMES_COLUMNS)},
        {.name = "stacks", .columns = COLUMN_TEXTS(SQL_STACKS_COLUMNS)},
        {.name = "interrupts", .columns = COLUMN_TEXTS(SQL_INTERRUPTS_COLUMNS)},
        {.name = "kernel_returns", .columns = COLUMN_TEXTS(SQL_KERNEL_RETURNS_COLUMNS)},
        {.name = "stack_groups",
         .columns = COLUMN_TEXTS(SQL_STACK_GROUPS_COLUMNS),
         .index = "stack"},
        {.name = "samples", .columns = COLUMN_TEXTS(SQL_SAMPLES_COLUMNS), .index = "window"},
        {.name = "waits", .columns = COLUMN_TEXTS(SQL_WAITS_COLUMNS), .index = "thread"},
        {.name = "wait_times", .columns = COLUMN_TEXTS(SQL_WAIT_TIMES_COLUMNS)},
        {.name = "changes", .columns = COLUMN_TEXTS(SQL_CHANGES_COLUMNS)},
        {.name = "wakings", .columns = COLUMN_TEXTS(SQL_WAKINGS_COLUMNS)},
        {.name = "wait_graph", .columns = COLUMN_TEXTS(SQL_WAIT_GRAPH_COLUMNS)},
        {.name = "calls", .columns = COLUMN_TEXTS(SQL_CALLS_COLUMNS)},
        {.name = "events", .columns = COLUMN_TEXTS(SQL_EVENTS_COLUMNS)},
        {.name = "diff", .columns = COLUMN_TEXTS(SQL_DIFF_COLUMNS), .function = true},
        {0},
};

const struct sql_columns *sql_columns_find(const char *name)
{
	for (const struct sql_columns *c = sql_columns; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
