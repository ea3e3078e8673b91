/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_source: opens a file of any kind for SQL: a store, samples, call paths, event tags, pprof.
 * The content decides. The file is read at the first query for a table that needs it. Data of the
 * file that is missing in the tables is then reported on standard error.
 *
 * sql_source_open(), queries, sql_source_close(), also after a failed open. One thread. Errors: 0
 * or -errno. Uses: base, format, profile, sql, store, symbol, view.
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

#define SQL_SOURCE_WINDOW_NS 1000000000 /* the default */

/* Uses the options for symbols, --time and window_ns. Their strings, and the address of the source,
 * must stay valid. */
int sql_source_open(struct sql_source *s, const char *path, const struct load_options *options,
                    struct error *err);
void sql_source_close(struct sql_source *s);

#endif
