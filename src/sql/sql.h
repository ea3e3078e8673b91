/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql: recordings and stores as tables of SQLite, to ask in SQL.
 *
 * A store's tables are asked where they are. Of a recording each table is a virtual one over
 * the model, which nothing is copied of: the model must outlive the sql. The same names and
 * columns either way (docs/SQL.md), and the same views on top.
 *
 *	sql_open(&s) or sql_open_store(&s, path)
 *	sql_add_profile(), _calls(), _tags(), _pprof()	one of them; or, when it is needed:
 *	sql_load_later(s, load)				load() does
 *	sql_run(), sql_export()
 *	sql_close()
 *
 * What is read is never written to: ATTACH, changes of tables and of settings are refused with a
 * sentence, temporary tables are the asker's own. A store that somebody hostile made runs
 * nothing of its own: its views and triggers are not used. One thread. Errors carry SQLite's
 * words. Uses: base, event, process, profile, trace, format, store, symbol, view.
 */
#ifndef ASSAY_SQL_SQL_H
#define ASSAY_SQL_SQL_H

#include "base/buf.h"
#include "base/error.h"
#include "profile/call_paths.h"
#include "profile/named_paths.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct sql;

int sql_open(struct sql **out, struct error *err);
int sql_open_store(struct sql **out, const char *path, struct error *err);
void sql_close(struct sql *s); /* NULL-safe */

int sql_add_profile(struct sql *s, const struct profile *p, struct symbolizer *symbols,
                    struct error *err);
int sql_add_calls(struct sql *s, const struct call_paths *c, struct symbolizer *symbols,
                  struct error *err);
int sql_add_tags(struct sql *s, const char *path, struct error *err);
int sql_add_pprof(struct sql *s, const struct named_paths *n, struct error *err);
/* The events of a file of samples, which are read from it each time. */
int sql_add_recording(struct sql *s, const char *path, struct error *err);

/*
 * `load` adds what is missing, before the first table is looked at that nobody has added: once,
 * and again after an error. -EINTR: *stop is not 0 (NULL: none does). ctx is done() with the sql.
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
/* A row; with row 0 the columns' names are told in `values` first, as texts. */
typedef int sql_row_fn(void *ctx, uint64_t row, const struct sql_value *values, size_t count,
                       struct error *err);

/* All statements in `text`, one after the other. -EINTR: sql_stop_when() ended one. */
int sql_run(struct sql *s, const char *text, sql_row_fn *row, void *ctx, struct error *err);
/* A statement under way ends once that is not 0: a flag that a signal sets. NULL: none does. */
void sql_stop_when(struct sql *s, const volatile sig_atomic_t *flag);
/* What there is, or one table, as statements that could have made it; -ENOENT. */
int sql_describe(struct sql *s, const char *table, struct buf *out, struct error *err);
/* Whether the text ends where a statement ends (a `;` that is in no string). */
bool sql_is_complete(const char *text);
/* Writes all tables, and the views, to a new database file. */
int sql_export(struct sql *s, const char *path, struct error *err);

#endif
