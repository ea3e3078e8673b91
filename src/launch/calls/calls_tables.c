/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/calls_tables.h"

#include "format/calls/calls_file.h"
#include "launch/run_directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void calls_notes_done(calls_notes *notes)
{
	vec_each (note, notes)
		free(*note);
	vec_done(notes);
}

static int add_tables(void *ctx, const char *directory, struct error *err)
{
	call_table_list *list = ctx, here = {0};
	int rc = call_table_list_read(&here, directory, err);

	/* The list now owns the contents of the items. */
	vec_each (table, &here)
		vec_push(list, *table);
	vec_done(&here);
	return rc;
}

int calls_tables_of(call_table_list *list, const char *directory, struct error *err)
{
	int rc = run_directory_each(directory, add_tables, list, err);

	if (!rc && list->count)
		qsort(list->items, list->count, sizeof(*list->items), runtime_file_compare);
	return rc;
}

int calls_tables_all(call_table_list *list, struct error *err)
{
	char *directory;
	int rc = call_table_directory(&directory, false, err);

	if (rc)
		return rc;
	rc = calls_tables_of(list, directory, err);
	free(directory);
	return rc;
}

static int read_copy(struct call_paths *into, const struct call_table *table,
                     const struct call_table_copy *copy, struct error *err)
{
	VEC(struct calls_thread_state) threads = {0};
	struct calls_state state = {.running = table->file.running,
	                            .live = table->file.running,
	                            .now = copy->now,
	                            .now_ns = copy->now_ns,
	                            .base = copy->base.data,
	                            .base_size = copy->base.size};
	int rc;

	vec_each (thread, &copy->threads)
		vec_push(&threads, (struct calls_thread_state){.tid = thread->tid,
		                                               .cpu_ns = thread->cpu_ns,
		                                               .runnable_ns = thread->runnable_ns,
		                                               .runs = thread->runs});
	state.threads = threads.items;
	state.thread_count = threads.count;
	rc = calls_file_read(into, copy->bytes.data, copy->bytes.size, table->file.path, &state,
	                     NULL, err);
	vec_done(&threads);
	return rc;
}

int calls_tables_read(struct call_paths *into, const call_table_list *list, calls_notes *notes,
                      struct error *err)
{
	size_t before = into->processes.count;
	struct error last = {0};
	int rc = 0;

	vec_each (table, list) {
		struct call_table_copy copy = {0};
		int failed = call_table_copy(&copy, table, &last);

		if (!failed)
			failed = read_copy(into, table, &copy, &last);
		call_table_copy_done(&copy);
		if (failed == -ENOENT) /* removed by a reset since the search */
			continue;
		if (failed)
			vec_push(notes, xasprintf("process %d is left out: %s", table->file.pid,
			                          last.text));
		rc = failed ? failed : rc;
	}
	if (rc && into->processes.count == before)
		return error_set(err, -rc, "%s", last.text);
	return 0;
}

int calls_tables_reset(const call_table_list *list, struct error *err)
{
	int rc = 0;

	/* Running processes first, so that their counts start again at nearly the same time. */
	for (int running = 1; running >= 0; running--) {
		vec_each (table, list) {
			int failed;

			if (table->file.running != (running == 1))
				continue;
			failed = call_table_reset(table, rc ? NULL : err);
			if (failed && failed != -ENOENT && !rc)
				rc = failed;
			/* The session must distinguish "no calls" from "the table was removed".
			 */
			if (!failed && !running)
				run_directory_mark(table->file.path);
		}
	}
	return rc;
}

int calls_session_begin(char **directory, struct error *err)
{
	return run_directory_begin(&call_table_kind, directory, err);
}

bool calls_session_was_reset(const char *directory)
{
	return run_directory_was_marked(directory);
}

bool calls_session_end(const char *directory, const call_table_list *list)
{
	vec_each (table, list)
		if (!table->file.running)
			call_table_remove(table, NULL);
	return run_directory_end(directory);
}
