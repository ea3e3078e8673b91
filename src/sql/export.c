/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_export(): writes all public tables and views to a new SQLite database. */
#include "sql/sql_internal.h"

#include "base/file/replace_by_path.h"
#include "sql/tables/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct copy {
	struct sql *from;
	sqlite3 *to;
	struct replace_by_path file;
};

static int copy_fail(struct copy *c, struct error *err)
{
	int code = sqlite3_extended_errcode(c->to) & 0xff;

	return error_set(err, code == SQLITE_FULL ? ENOSPC : EIO, "cannot write %s: %s",
	                 c->file.path,
	                 code == SQLITE_FULL ? "no space is left" : sqlite3_errmsg(c->to));
}

/* Executes `text` and frees it. */
static int run(struct copy *c, char *text, struct error *err)
{
	int ret = sqlite3_exec(c->to, text, NULL, NULL, NULL);

	sqlite3_free(text);
	return ret ? copy_fail(c, err) : 0;
}

/* The column `id`, if it is the first column, becomes the primary key. */
static int make_table(struct copy *c, const struct sql_columns *table, struct error *err)
{
	static const char id[] = "id INTEGER";
	bool key = !strncmp(table->columns, id, strlen(id));

	return run(c,
	           sqlite3_mprintf("CREATE TABLE %s (%s%s)", table->name,
	                           key ? "id INTEGER PRIMARY KEY" : "",
	                           table->columns + (key ? strlen(id) : 0)),
	           err);
}

static int copy_row(struct copy *c, sqlite3_stmt *from, sqlite3_stmt *to, struct error *err)
{
	int count = sqlite3_column_count(from);

	for (int i = 0; i < count; i++)
		if (sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i)))
			return copy_fail(c, err);
	sqlite3_step(to);
	return sqlite3_reset(to) ? copy_fail(c, err) : 0;
}

static int copy_rows(struct copy *c, const struct sql_columns *table, struct error *err)
{
	char *read = sqlite3_mprintf("SELECT * FROM %s", table->name), *write;
	sqlite3_stmt *from = NULL, *to = NULL;
	int ret = 0, code, count;

	if (sqlite3_prepare_v2(c->from->db, read, -1, &from, NULL))
		ret = sql_fail(c->from, SQLITE_ERROR, read, -1, err);
	count = from ? sqlite3_column_count(from) : 1;
	write = sqlite3_mprintf("INSERT INTO %s VALUES (?", table->name);
	for (int i = 1; i < count; i++)
		write = sqlite3_mprintf("%z,?", write);
	write = sqlite3_mprintf("%z)", write);
	if (!ret && sqlite3_prepare_v2(c->to, write, -1, &to, NULL))
		ret = copy_fail(c, err);
	while (!ret && (code = sqlite3_step(from)) != SQLITE_DONE)
		ret = code == SQLITE_ROW ? copy_row(c, from, to, err)
		                         : sql_fail(c->from, code, read, -1, err);
	sqlite3_finalize(from);
	sqlite3_finalize(to);
	sqlite3_free(read);
	sqlite3_free(write);
	return ret;
}

static int copy_all(struct copy *c, struct error *err)
{
	int ret = run(c,
	              sqlite3_mprintf("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN"),
	              err);

	for (const struct sql_columns *t = sql_columns; t->name && !ret; t++) {
		if (t->function)
			continue;
		ret = make_table(c, t, err);
		if (!ret)
			ret = copy_rows(c, t, err);
		if (!ret && t->index)
			ret = run(c,
			          sqlite3_mprintf("CREATE INDEX %s_%s ON %s (%s)", t->name,
			                          t->index, t->name, t->index),
			          err);
	}
	for (const struct sql_view *v = sql_views; v->name && !ret; v++)
		ret = run(c, sqlite3_mprintf("CREATE VIEW %s AS %s", v->name, v->select), err);
	return ret ? ret : run(c, sqlite3_mprintf("COMMIT"), err);
}

/* A file of another user, or a link, at the place of the new file is not written to. */
static int open_part(struct copy *c, const char *path, struct error *err)
{
	int ret = replace_by_path_begin(&c->file, path, err);

	if (!ret && sqlite3_open_v2(c->file.path, &c->to, SQLITE_OPEN_READWRITE, NULL))
		ret = copy_fail(c, err);
	return ret;
}

int sql_export(struct sql *s, const char *path, struct error *err)
{
	struct copy c = {.from = s};
	int ret = sql_ready(s, err);

	if (!ret)
		ret = replace_file_check(path, err);
	if (!ret)
		ret = open_part(&c, path, err);
	/* One transaction, so that all tables of a store are of one moment. */
	if (!ret && sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL))
		ret = sql_fail(s, SQLITE_ERROR, "", -1, err);
	if (!ret) {
		ret = copy_all(&c, err);
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	}
	if (sqlite3_close(c.to) && !ret)
		ret = error_set(err, EIO, "cannot close %s", c.file.path);
	return c.file.path ? replace_by_path_end(&c.file, ret, err) : ret;
}
