/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table: a part of a model as a read-only virtual table of SQLite. No data is copied.
 *
 * A struct sql_table describes one public table (columns.h has the names and columns). It
 * either gives the number of rows and the value of row r, column c, or it is a stream that
 * returns one row after the other. sql_table_add() must add it before the first statement runs.
 * A public table without a description exists and is empty. A caller that must read much data
 * to add its tables uses sql_load_later(): its callback adds them at the first query.
 *
 * A value function sets the value with sqlite3_result_*() or with the sql_out_ functions below;
 * a column without a value is NULL. Rows and ids must not change after a table was added. One
 * thread. Errors: 0 or -errno. Uses: base.
 */
#ifndef ASSAY_SQL_TABLES_TABLE_H
#define ASSAY_SQL_TABLES_TABLE_H

#include "base/error.h"
#include "sql/sql.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The query needs only rows whose column is in low..high, both inclusive. A table may return
 * more rows, since SQLite checks each row again. Hidden columns are the arguments of a
 * function: there low == high. */
struct sql_bound {
	int column;
	int64_t low, high;
};

/* Rows that are read in sequence. Each cursor reads from the start, independent of others. */
struct sql_stream {
	int (*open)(void *ctx, const struct sql_bound *bounds, size_t bound_count, void **cursor,
	            struct error *err);
	int (*next)(void *cursor, struct error *err); /* 1: a row, 0: the end, -errno */
	void (*value)(void *cursor, int column, sqlite3_context *out);
	void (*close)(void *cursor);
};

struct sql_table {
	const char *name; /* of a public table */
	/* Either rows by number: 0 .. count - 1 */
	uint64_t (*count)(void *ctx);
	void (*value)(void *ctx, uint64_t row, int column, sqlite3_context *out);
	/* column 0 is the row number + first_id: `id = ?` needs no scan */
	bool has_id;
	int64_t first_id;
	/*
	 * Columns (bits, without the id) that support a lookup by range. range() sets the first
	 * row and the end (exclusive) of the rows that contain the range. For a stream: the columns
	 * that open() wants in `bounds`.
	 */
	uint64_t ranged;
	void (*range)(void *ctx, const struct sql_bound *bound, uint64_t *first, uint64_t *end);
	/* or a stream */
	const struct sql_stream *stream;
	int arguments;           /* number of hidden columns, at the end; a query must set all */
	void (*done)(void *ctx); /* frees ctx when the sql is closed; may be NULL */
};

/* Copies `t`; the data that it points to must outlive the sql. t->done(ctx) runs in any case:
 * when the sql is closed, or at once after an error. */
int sql_table_add(struct sql *s, const struct sql_table *t, void *ctx, struct error *err);
/* Adds several tables with one ctx. Only the first table may have done(). */
int sql_table_add_all(struct sql *s, const struct sql_table *tables, size_t count, void *ctx,
                      struct error *err);

/* Sets an integer; values above INT64_MAX become INT64_MAX. */
void sql_out_u64(sqlite3_context *out, uint64_t value);
/* Sets an integer; 0 means "not known" and gives NULL. */
void sql_out_known(sqlite3_context *out, uint64_t value);
/* NaN gives NULL. */
void sql_out_double(sqlite3_context *out, double value);
/* Sets a text that lives as long as the model. Each byte that is not UTF-8 becomes U+FFFD. A
 * NULL pointer gives NULL. */
void sql_out_text(sqlite3_context *out, const char *text);
/* As sql_out_text(), but copies the text. */
void sql_out_copy(sqlite3_context *out, const char *text);

/* For sql.c: the SQLite module that serves all added tables. */
struct sql_tables;
struct sql_tables *sql_tables_new(void);
void sql_tables_free(struct sql_tables *t);
int sql_tables_add(struct sql_tables *t, const struct sql_table *table, void *ctx);
void sql_tables_later(struct sql_tables *t, sql_load_fn *load, void *ctx, void (*done)(void *ctx));
void sql_tables_stop_when(struct sql_tables *t, const volatile sig_atomic_t *flag);
/* Creates each public table in `temp` of `db`, except where there() returns true. */
int sql_tables_create(struct sql_tables *t, sqlite3 *db, bool (*there)(void *, const char *),
                      void *ctx, struct error *err);

#endif
