/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql: recordings and stores as tables of SQLite, for queries in SQL.
 *
 * A query of a store reads the tables in the file. A recording is served as virtual tables over
 * the model. The model is not copied, so it must outlive the sql. Both have the same tables,
 * columns and views (docs/SQL.md).
 *
 *	sql_open(&s) or sql_open_store(&s, path)
 *	sql_add_profile(), _calls(), _tags(), _pprof()	one of them, or:
 *	sql_load_later(s, load)				load() adds tables at the first query
 *	sql_run(), sql_export()
 *	sql_close()
 *
 * The source is never changed: ATTACH and statements that change tables or settings are refused
 * with an error. Temporary tables are allowed. The views and triggers of a store are not used, so a
 * hostile file cannot run code of its own. One thread. Errors contain the message of SQLite. Uses:
 * base, event, process, profile, tags, format, store, symbol, view.
 */
#ifndef ASSAY_SQL_SQL_H
#define ASSAY_SQL_SQL_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "profile/calls/call_paths.h"
#include "profile/symbolized_profile.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct sql;

int sql_open(struct sql **out, struct error *err);
int sql_open_store(struct sql **out, const char *path, struct error *err);
/* Of a store on a server only this range is read. */
struct store_range;
int sql_open_store_range(struct sql **out, const char *path, const struct store_range *range,
                         struct error *err);
void sql_close(struct sql *s); /* NULL-safe */

int sql_add_profile(struct sql *s, const struct profile *p, struct symbolizer *symbols,
                    struct error *err);
int sql_add_calls(struct sql *s, const struct call_paths *c, struct symbolizer *symbols,
                  struct error *err);
int sql_add_tags(struct sql *s, const char *path, struct error *err);
int sql_add_pprof(struct sql *s, const struct symbolized_profile *n, struct error *err);
/* Adds `events` of a perf.data file; each query reads the file again. */
int sql_add_recording(struct sql *s, const char *path, struct error *err);

/*
 * `load` runs at the first query of a table that was not added yet, and must add it. It runs once,
 * and again after an error. It returns -EINTR when *stop is not 0 (`stop` may be NULL). done(ctx)
 * runs when the sql is closed.
 */
typedef int sql_load_fn(void *ctx, const volatile sig_atomic_t *stop, struct error *err);
void sql_load_later(struct sql *s, sql_load_fn *load, void *ctx, void (*done)(void *ctx));

enum sql_type { SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BLOB };
struct sql_value {
	enum sql_type type;
	int64_t integer;
	double real;
	const char *text; /* TEXT and BLOB; NUL-ended */
	size_t bytes;
};
/* Receives one row, numbered from 1. Row 0 comes first: its values are the column names. */
typedef int sql_row_fn(void *ctx, uint64_t row, const struct sql_value *values, size_t count,
                       struct error *err);

/* Runs all statements in `text`, in order. -EINTR: the flag of sql_stop_when() was set. */
int sql_run(struct sql *s, const char *text, sql_row_fn *row, void *ctx, struct error *err);
/* The rules of function_group(), stack_group() and by_group, before the first query; they must
 * outlive `s`. Without this call they are those of assay. */
struct group_rules;
void sql_use_groups(struct sql *s, struct group_rules *rules);
/*
 * A running statement ends when *flag, set by a signal handler, is not 0. NULL: no flag. From now
 * on statements of the user have no limit, also on a store (store/sqlite/database.h).
 */
void sql_stop_when(struct sql *s, const volatile sig_atomic_t *flag);
/* Appends the CREATE statements of all tables and views, or of one; -ENOENT: it does not exist. */
int sql_describe(struct sql *s, const char *table, struct buf *out, struct error *err);
/* Whether the text ends with a complete statement (a `;` outside of strings). */
bool sql_is_complete(const char *text);
/* Writes all tables, and the views, to a new database file. */
int sql_export(struct sql *s, const char *path, struct error *err);

#endif
