/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_tables: the tables of a store under their public names.
 *
 * A file from an untrusted source may contain harmful views, so the views of the file are not
 * used. Instead, store/sqlite/schema.h creates its views in an empty database in memory, and their
 * texts are copied as temporary views over the tables of the file.
 */
#include "sql/sql_internal.h"

#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"
#include "store/clickhouse/click_store.h"
#include "store/sqlite/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int open_file(struct database *d, const char *path, struct error *err)
{
	int version, ret = schema_recognise(path, &version, err);

	return ret ? ret : database_open(d, path, DATABASE_READ, err);
}

int sql_open_store(struct sql **out, const char *path, struct error *err)
{
	const struct store_range all = {.host = "*"};

	return sql_open_store_range(out, path, &all, err);
}

int sql_open_store_range(struct sql **out, const char *path, const struct store_range *range,
                         struct error *err)
{
	struct sql *s = xcalloc(1, sizeof(*s));
	int ret = store_is_remote(path) ? click_store_fetch_memory(path, range, &s->store, err)
	                                : open_file(&s->store, path, err);

	s->tables = sql_tables_new();
	s->is_store = true;
	if (ret) {
		sql_close(s);
		return ret;
	}
	s->db = s->store.handle;
	*out = s;
	return 0;
}

/* sql_store_views() has created the views before this is called. */
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

/* Executes "CREATE VIEW hosts AS ..." as CREATE TEMP VIEW. */
static int make_view(struct sql *s, const char *text, struct error *err)
{
	static const char begin[] = "CREATE VIEW ";
	char *temporary;
	int ret;

	if (strncmp(text, begin, strlen(begin)))
		return error_set(err, EINVAL,
		                 "the text of a view does not begin with CREATE VIEW: %.64s", text);
	temporary = sqlite3_mprintf("CREATE TEMP VIEW %s", text + strlen(begin));
	ret = sqlite3_exec(s->db, temporary, NULL, NULL, NULL);
	sqlite3_free(temporary);
	return ret ? error_set(err, EIO, "cannot create a view: %s", sqlite3_errmsg(s->db)) : 0;
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

/*
 * The stacks in interrupt handlers and softirqs: from each entry by an interrupt inward, up to the
 * next entry. A file has no such view, because it uses a function of assay.
 */
static const char interrupts[] =
        "CREATE VIEW interrupts AS WITH RECURSIVE "
        "kernel AS (SELECT f.id AS frame, kernel_entry(n.name) AS entry "
        "FROM frames f LEFT JOIN functions n ON n.id = f.function WHERE f.kernel), "
        "entered AS (SELECT frame FROM kernel WHERE entry IN ('interrupt', 'softirq')), "
        "inner AS (SELECT frame FROM kernel WHERE entry IS NULL), "
        "down (stack) AS (SELECT id FROM stacks WHERE frame IN (SELECT frame FROM entered) "
        "UNION SELECT s.id FROM down JOIN stacks s ON s.parent = down.stack "
        "WHERE s.frame IN (SELECT frame FROM inner)) SELECT stack FROM down";

int sql_store_views(struct sql *s, struct error *err)
{
	struct database scratch = {.path = xstrdup("a store")};
	int ret = 0;

	/*
	 * SQLite looks up the names in a view in `temp` first. `temp` has no tables yet, so the
	 * names mean tables of the file, which schema_stand_in() checks.
	 */
	if (sqlite3_open(":memory:", &scratch.handle))
		ret = error_set(err, EIO, "cannot start SQLite: %s",
		                sqlite3_errmsg(scratch.handle));
	if (!ret)
		ret = schema_create(&scratch, err);
	if (!ret)
		ret = schema_stand_in(&s->store, err);
	if (!ret)
		ret = make_views_of(s, &scratch, err);
	if (!ret)
		ret = make_view(s, interrupts, err);
	database_close(&scratch);
	return ret;
}
