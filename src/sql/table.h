/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table: a model's part as a read-only table of SQLite, without copying it.
 *
 * Whoever has a model says for one of the public tables (columns.h has their names and
 * columns) how many rows there are and what stands in row r, column c; or, where rows come
 * one after the other, how to read on. sql_table_add() makes it known before the first
 * statement is run; a public table that nobody adds is there and empty. Who would have to read
 * much for that says so with sql_load_later(), and adds them once they are asked about.
 *
 * Values are given by sqlite3_result_*(), or by the sql_out_ functions below; a column that
 * nothing is given for is NULL. Rows and ids of what was added do not change any more. One
 * thread. Errors: 0 or -errno. Uses: base.
 */
#ifndef ASSAY_SQL_TABLE_H
#define ASSAY_SQL_TABLE_H

#include "base/error.h"
#include "sql/sql.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A column is asked for low..high alone, both inclusive. More than that may be given: SQLite
 * looks again. Hidden columns are a function's arguments: low == high. */
struct sql_bound {
	int column;
	int64_t low, high;
};

/* Rows that come one after the other: each cursor is a reading of its own. */
struct sql_stream {
	int (*open)(void *ctx, const struct sql_bound *bounds, size_t bound_count, void **cursor,
	            struct error *err);
	int (*next)(void *cursor, struct error *err); /* 1: there is a row, 0: no more, -errno */
	void (*value)(void *cursor, int column, sqlite3_context *out);
	void (*close)(void *cursor);
};

struct sql_table {
	const char *name; /* a public one */
	/* Either rows by number: 0 .. count - 1 */
	uint64_t (*count)(void *ctx);
	void (*value)(void *ctx, uint64_t row, int column, sqlite3_context *out);
	/* column 0 is the row's number + first_id: `id = ?` goes straight there */
	bool has_id;
	int64_t first_id;
	/*
	 * Columns (bits, beside the id) of which a range can be looked up: sets the stretch of
	 * rows, end exclusive, that holds all of the range. For streams: those wanted in bounds.
	 */
	uint64_t ranged;
	void (*range)(void *ctx, const struct sql_bound *bound, uint64_t *first, uint64_t *end);
	/* or a stream */
	const struct sql_stream *stream;
	int arguments;           /* so many of the last columns are hidden: all must be given */
	void (*done)(void *ctx); /* frees ctx with the sql, may be NULL */
};

/* `t` is copied, what it points to must stay. ctx is done() in any case. */
int sql_table_add(struct sql *s, const struct sql_table *t, void *ctx, struct error *err);
/* Several of one ctx; the first has its done(), if any has. */
int sql_table_add_all(struct sql *s, const struct sql_table *tables, size_t count, void *ctx,
                      struct error *err);

/* Values. Beyond what SQLite's integers hold: their largest. */
void sql_out_u64(sqlite3_context *out, uint64_t value);
/* 0 is "not known": NULL. */
void sql_out_known(sqlite3_context *out, uint64_t value);
/* NaN: NULL. */
void sql_out_double(sqlite3_context *out, double value);
/* A text that stays as long as the model; bytes that are no UTF-8 come out as U+FFFD. NULL: NULL */
void sql_out_text(sqlite3_context *out, const char *text);
/* The same, copied. */
void sql_out_copy(sqlite3_context *out, const char *text);

/* For sql.c: the module over all tables that were added, to a connection. */
struct sql_tables;
struct sql_tables *sql_tables_new(void);
void sql_tables_free(struct sql_tables *t);
int sql_tables_add(struct sql_tables *t, const struct sql_table *table, void *ctx);
void sql_tables_later(struct sql_tables *t, sql_load_fn *load, void *ctx, void (*done)(void *ctx));
void sql_tables_stop_when(struct sql_tables *t, const volatile sig_atomic_t *flag);
/* Makes all public tables of `db` that are not `there` already, as temporary ones. */
int sql_tables_create(struct sql_tables *t, sqlite3 *db, bool (*there)(void *, const char *),
                      void *ctx, struct error *err);

#endif
