/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_source: a file of any kind, opened for SQL: a store, samples, call paths, event tags,
 * pprof. The content tells which. It is read when a table that needs it is looked at; what is not
 * in the tables though the file had it is told on standard error then.
 *
 * sql_source_open() / sql_source_close(), which is also for what failed to open. One thread.
 * Errors: 0 or -errno. Uses: base, format, profile, sql, store, symbol, view.
 */
#ifndef ASSAY_CMD_SQL_SQL_SOURCE_H
#define ASSAY_CMD_SQL_SQL_SOURCE_H

#include "cmd/load/load.h"
#include "sql/sql.h"

struct sql_source {
	struct sql *sql;
	struct load_options options;
	char *path;
	struct profile *profile;
	struct call_paths *calls;
	struct symbolized_profile named;
	struct symbolizer *symbols;
	bool has_named;
};

#define SQL_SOURCE_WINDOW_NS 1000000000 /* where options say nothing */

/* Of the options those about symbols, --time and window_ns count; what they point to must stay, and
 * the source where it is. */
int sql_source_open(struct sql_source *s, const char *path, const struct load_options *options,
                    struct error *err);
void sql_source_close(struct sql_source *s);

#endif
