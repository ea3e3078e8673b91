/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/export/export_sqlite.h"

#include "cmd/sql/sql_source.h"
#include "cmd/cli/output_file.h"

#include <string.h>

/* The input file; NULL: there are several. */
static const char *file_of(const struct load_options *o)
{
	if (o->store)
		return load_named(o, 0) ? NULL : o->store;
	return load_file(o, 1) ? NULL : load_file(o, 0);
}

int export_sqlite(const struct load_options *o, const char *output)
{
	const char *file = file_of(o);
	struct sql_source source;
	struct error err = {0};
	int status = 0;

	if (!output || !strcmp(output, "-"))
		return command_fail(2, "export: --to sqlite needs an output file: name it with -o");
	if (!file)
		return command_fail(2, "export: --to sqlite takes one file at a time");
	if (o->from || o->host)
		return command_fail(2, "export: --to sqlite writes the whole store; 'assay sql' "
		                       "selects a part");
	if (output_file_check(output, FILE_UNKNOWN, &err))
		return command_fail(1, "export: %s", err.text);
	if (sql_source_open(&source, file, o, &err) || sql_export(source.sql, output, &err))
		status = command_fail(1, "export: %s", err.text);
	sql_source_close(&source);
	return status;
}
