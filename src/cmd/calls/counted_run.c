/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/calls/counted_run.h"

#include "launch/calls/calls_runtime.h"
#include "launch/calls/calls_tables.h"
#include "launch/table_handout.h"

#include <stdlib.h>

static int read_tables(const struct calls_run_options *options, struct call_paths *into,
                       struct error *err)
{
	call_table_list list = {0};
	calls_notes notes = {0};
	int ret = calls_tables_of(&list, options->directory, err);

	if (!ret)
		ret = calls_tables_read(into, &list, &notes, err);
	if (!ret && !into->processes.count)
		ret = calls_runtime_why(options->command, options->directory, 0, err);
	calls_session_end(options->directory, &list);
	calls_notes_done(&notes);
	call_table_list_done(&list);
	return ret;
}

int counted_run(const struct calls_run_options *options, struct call_paths *into,
                struct command_run_result *result, struct error *err)
{
	struct calls_run_options run = *options;
	call_table_list none = {0};
	char *directory = NULL;
	int ret;

	*result = (struct command_run_result){0};
	ret = calls_session_begin(&directory, err);
	if (ret)
		return ret;
	run.directory = directory;
	run.handout = table_handout_open(&call_table_kind, directory);
	ret = calls_run(&run, result, err);
	if (!ret)
		ret = read_tables(&run, into, err);
	table_handout_close(run.handout);
	calls_session_end(directory, &none);
	free(directory);
	return ret;
}
