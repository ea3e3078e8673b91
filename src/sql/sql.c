/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/sql_internal.h"

#include "base/memory/vec.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Instructions of SQLite's virtual machine between two checks of the flag. */
#define STOP_STEPS 1000

int sql_open(struct sql **out, struct error *err)
{
	struct sql *s = xcalloc(1, sizeof(*s));

	s->tables = sql_tables_new();
	if (sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL)) {
		int ret = error_set(err, EIO, "cannot start SQLite: %s", sqlite3_errmsg(s->db));

		sql_close(s);
		return ret;
	}
	*out = s;
	return 0;
}

void sql_close(struct sql *s)
{
	if (!s)
		return;
	sql_functions_free(s->functions);
	sql_groups_free(s->groups);
	if (s->is_store)
		database_close(&s->store);
	else
		sqlite3_close(s->db);
	sql_tables_free(s->tables);
	free(s);
}

int sql_table_add(struct sql *s, const struct sql_table *t, void *ctx, struct error *err)
{
	return sql_tables_add(s->tables, t, ctx)
	               ? error_set(err, EINVAL, "the table %s cannot be added", t->name)
	               : 0;
}

int sql_table_add_all(struct sql *s, const struct sql_table *tables, size_t count, void *ctx,
                      struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = sql_table_add(s, &tables[i], ctx, err);
	return ret;
}

void sql_load_later(struct sql *s, sql_load_fn *load, void *ctx, void (*done)(void *ctx))
{
	sql_tables_later(s->tables, load, ctx, done);
}

static int make_views(struct sql *s, struct error *err)
{
	for (const struct sql_view *v = sql_views; v->name; v++) {
		char *text = sqlite3_mprintf("CREATE TEMP VIEW %s AS %s", v->name, v->select);
		int ret = sqlite3_exec(s->db, text, NULL, NULL, NULL);

		sqlite3_free(text);
		if (ret)
			return error_set(err, EIO, "cannot create the view %s: %s", v->name,
			                 sqlite3_errmsg(s->db));
	}
	return 0;
}

void sql_use_groups(struct sql *s, struct group_rules *rules)
{
	s->rules = rules;
}

/* Whether a view takes the place of a virtual table. */
static bool has_view(void *of, const char *table)
{
	struct sql *s = of;

	return !strcmp(table, "stack_groups") || (s->is_store && sql_store_has(s, table));
}

int sql_ready(struct sql *s, struct error *err)
{
	int ret = 0;

	if (s->ready)
		return 0;
	if (s->is_store)
		ret = sql_store_views(s, err);
	if (!ret)
		ret = sql_diff_add(s, s->db, err);
	if (!ret)
		ret = sql_tables_create(s->tables, s->db, has_view, s, err);
	if (!ret)
		ret = sql_functions_add(&s->functions, s->db, err);
	if (!ret)
		ret = sql_groups_add(&s->groups, s->db, s->rules, err);
	if (!ret)
		ret = sql_groups_view(s, err);
	if (!ret)
		ret = make_views(s, err);
	if (ret)
		return ret;
	s->ready = true;
	sql_guard(s);
	return 0;
}

static void place_of(const char *text, int offset, int *line, int *column)
{
	*line = *column = 1;
	for (int i = 0; i < offset && text[i]; i++) {
		*column += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (text[i] == '\n') {
			*column = 1;
			++*line;
		}
	}
}

/* The error: the message of SQLite, a suggestion, and the line and column. */
static int fail_at(struct sql *s, const char *text, int offset, struct error *err)
{
	struct buf words = {0};
	char *nearest;
	int line, column, ret;

	buf_puts(&words, sqlite3_errmsg(s->db));
	nearest = sql_suggest(s, buf_text(&words), text);
	if (nearest)
		buf_addf(&words, "; did you mean %s?", nearest);
	else if (!strncmp(buf_text(&words), "no such table:", strlen("no such table:")))
		buf_puts(&words, "; .tables lists the tables");
	if (offset >= 0) {
		place_of(text, offset, &line, &column);
		buf_addf(&words, " (line %d, column %d)", line, column);
	}
	ret = error_set(err, EINVAL, "%s", buf_text(&words));
	free(nearest);
	buf_done(&words);
	return ret;
}

int sql_fail(struct sql *s, int code, const char *text, int offset, struct error *err)
{
	if (code == SQLITE_INTERRUPT && s->is_store && !s->stop)
		return database_error(&s->store, code, "cannot be read", err);
	if (code == SQLITE_INTERRUPT || (s->stop && *s->stop))
		return error_set(err, EINTR, "interrupted");
	if (*s->refusal)
		return error_set(err, EPERM, "%s", s->refusal);
	if (!strcmp(sqlite3_errmsg(s->db), "no query solution"))
		return error_set(err, EINVAL,
		                 "diff() takes four times: diff(a_from, a_to, b_from, "
		                 "b_to), in ns since 1970");
	return fail_at(s, text, offset, err);
}

/* Offset of the error in the statement; -1: not known. */
static int error_offset(sqlite3 *db)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_error_offset(db);
#else
	return -1;
#endif
}

static void value_of(sqlite3_stmt *statement, int column, struct sql_value *v)
{
	*v = (struct sql_value){.type = SQL_NULL};
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		v->type = SQL_INTEGER;
		v->integer = sqlite3_column_int64(statement, column);
		break;
	case SQLITE_FLOAT:
		v->type = SQL_REAL;
		v->real = sqlite3_column_double(statement, column);
		break;
	case SQLITE_TEXT:
		v->type = SQL_TEXT;
		v->text = (const char *)sqlite3_column_text(statement, column);
		v->bytes = (size_t)sqlite3_column_bytes(statement, column);
		break;
	case SQLITE_BLOB:
		v->type = SQL_BLOB;
		v->text = sqlite3_column_blob(statement, column);
		v->bytes = (size_t)sqlite3_column_bytes(statement, column);
		break;
	}
	if (v->type >= SQL_TEXT && !v->text)
		v->text = "";
}

static int tell_names(sqlite3_stmt *statement, struct sql_value *values, size_t count,
                      sql_row_fn *row, void *ctx, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = sqlite3_column_name(statement, (int)i);

		values[i] = (struct sql_value){.type = SQL_TEXT, .text = name ? name : ""};
		values[i].bytes = strlen(values[i].text);
	}
	return row(ctx, 0, values, count, err);
}

static int step_through(struct sql *s, sqlite3_stmt *statement, const char *text, sql_row_fn *row,
                        void *ctx, struct error *err)
{
	size_t count = (size_t)sqlite3_column_count(statement);
	struct sql_value *values = xcalloc(count + 1, sizeof(*values));
	uint64_t number = 0;
	int code = SQLITE_ROW, ret = 0;

	sql_functions_forget(s->functions);
	sql_groups_forget(s->groups);
	if (count && row)
		ret = tell_names(statement, values, count, row, ctx, err);
	while (!ret && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (size_t i = 0; i < count && row; i++)
			value_of(statement, (int)i, &values[i]);
		if (row)
			ret = row(ctx, ++number, values, count, err);
	}
	if (!ret && code != SQLITE_DONE)
		ret = sql_fail(s, code, text, -1, err);
	free(values);
	return ret;
}

int sql_run(struct sql *s, const char *text, sql_row_fn *row, void *ctx, struct error *err)
{
	const char *rest = text;
	int ret = sql_ready(s, err);

	while (!ret && *rest) {
		sqlite3_stmt *statement = NULL;
		const char *tail = rest;
		int code, offset;

		s->refusal[0] = '\0';
		database_work_begin(&s->store);
		code = sqlite3_prepare_v2(s->db, rest, -1, &statement, &tail);
		if (code) {
			offset = error_offset(s->db);
			ret = sql_fail(s, code, text, offset < 0 ? -1 : (int)(rest - text) + offset,
			               err);
		} else if (statement) {
			ret = step_through(s, statement, text, row, ctx, err);
		}
		sqlite3_finalize(statement);
		rest = tail;
	}
	return ret;
}

bool sql_is_complete(const char *text)
{
	return sqlite3_complete(text);
}

static int is_stopped(void *flag)
{
	return *(const volatile sig_atomic_t *)flag;
}

void sql_stop_when(struct sql *s, const volatile sig_atomic_t *flag)
{
	s->stop = flag;
	sql_tables_stop_when(s->tables, flag);
	sqlite3_progress_handler(s->db, flag ? STOP_STEPS : 0, flag ? is_stopped : NULL,
	                         (void *)(uintptr_t)flag);
}
