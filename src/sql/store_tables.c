/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_tables: a store's own tables under their public names.
 *
 * A file that somebody else wrote may hold views that are not what they seem; they are left
 * alone. The views that store/schema.h would make are made in an empty database in memory, and
 * their texts are made again as temporary views over the tables of the file.
 */
#include "sql/sql_internal.h"

#include "base/xalloc.h"
#include "sql/columns.h"
#include "store/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sql_open_store(struct sql **out, const char *path, struct error *err)
{
	struct sql *s = xcalloc(1, sizeof(*s));
	int version, ret = schema_recognise(path, &version, err);

	s->tables = sql_tables_new();
	s->is_store = true;
	if (!ret)
		ret = database_open(&s->store, path, DATABASE_READ, err);
	if (ret) {
		sql_close(s);
		return ret;
	}
	s->db = s->store.handle;
	*out = s;
	return 0;
}

/* Whatever the store has a view for was made by sql_store_views() before. */
bool sql_store_has(void *s, const char *table)
{
	static const char question[] = "SELECT 1 FROM temp.sqlite_master WHERE name = ?1";
	sqlite3_stmt *statement;
	bool has = false;

	if (sqlite3_prepare_v2(((const struct sql *)s)->db, question, -1, &statement, NULL))
		return false;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	has = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return has;
}

/*
 * Names in a view are looked for in `temp` first: a table there would be taken for the file's,
 * but nobody has made one yet. What a view stands on must be a plain table.
 */
static int check_tables(struct sql *s, struct error *err)
{
	static const char question[] =
	        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0";
	sqlite3_stmt *statement;
	int ret = 0;

	if (sqlite3_prepare_v2(s->db, question, -1, &statement, NULL))
		return sql_fail(s, SQLITE_ERROR, question, -1, err);
	if (sqlite3_step(statement) == SQLITE_ROW)
		ret = error_set(err, EINVAL,
		                "%s has a table that is none, which no store of assay's has: it is "
		                "not opened",
		                s->store.path);
	sqlite3_finalize(statement);
	return ret;
}

/* "CREATE VIEW hosts AS ..." as a temporary one. */
static int make_view(struct sql *s, const char *text, struct error *err)
{
	static const char begin[] = "CREATE VIEW ";
	char *temporary;
	int ret;

	if (strncmp(text, begin, strlen(begin)))
		return error_set(err, EINVAL, "a view of a store is none: %.64s", text);
	temporary = sqlite3_mprintf("CREATE TEMP VIEW %s", text + strlen(begin));
	ret = sqlite3_exec(s->db, temporary, NULL, NULL, NULL);
	sqlite3_free(temporary);
	return ret ? error_set(err, EIO, "cannot make a view: %s", sqlite3_errmsg(s->db)) : 0;
}

static int make_views_of(struct sql *s, struct database *scratch, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int ret =
	        database_prepare(scratch, "SELECT sql, name FROM sqlite_master WHERE type = 'view'",
	                         &statement, err);

	while (!ret && (ret = database_step(scratch, statement, err)) > 0)
		ret = sql_columns_find((const char *)sqlite3_column_text(statement, 1))
		              ? make_view(s, (const char *)sqlite3_column_text(statement, 0), err)
		              : 0;
	sqlite3_finalize(statement);
	return ret;
}

int sql_store_views(struct sql *s, struct error *err)
{
	struct database scratch = {.path = xstrdup("a store")};
	int ret = check_tables(s, err);

	if (!ret && sqlite3_open(":memory:", &scratch.handle))
		ret = error_set(err, EIO, "cannot begin SQLite: %s",
		                sqlite3_errmsg(scratch.handle));
	if (!ret)
		ret = schema_create(&scratch, err);
	if (!ret)
		ret = schema_stand_in(&s->store, err);
	if (!ret)
		ret = make_views_of(s, &scratch, err);
	database_close(&scratch);
	return ret;
}
