/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_describe(): the CREATE statements of tables and views. */
#include "sql/sql_internal.h"

#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"

#include <errno.h>
#include <string.h>

/* Writes one column per line. */
static void describe_table(const struct sql_columns *c, struct buf *out)
{
	const char *at = c->columns;

	buf_addf(out, "CREATE TABLE %s (\n\t", c->name);
	for (; *at; at++) {
		buf_putc(out, *at);
		if (*at == ',') {
			buf_puts(out, "\n\t");
			at += at[1] == ' ';
		}
	}
	buf_puts(out, "\n);\n");
}

/* Writes a view: its column names as a comment, and its text. No table is loaded. */
static void describe_view(sqlite3 *db, const struct sql_view *v, struct buf *out)
{
	char *question = xasprintf("PRAGMA table_info(%s)", v->name);
	const char *before = "-- ";
	sqlite3_stmt *statement;

	if (!sqlite3_prepare_v2(db, question, -1, &statement, NULL)) {
		for (; sqlite3_step(statement) == SQLITE_ROW; before = ", ")
			buf_addf(out, "%s%s", before, sqlite3_column_text(statement, 1));
		buf_putc(out, '\n');
		sqlite3_finalize(statement);
	}
	free(question);
	buf_addf(out, "CREATE VIEW %s AS %s;\n", v->name, v->select);
}

/* Writes a table or view that a statement created. */
static bool describe_own(sqlite3 *db, const char *table, struct buf *out)
{
	static const char question[] =
	        "SELECT sql FROM temp.sqlite_master WHERE name = ?1 COLLATE NOCASE";
	sqlite3_stmt *statement;
	bool found = false;

	if (sqlite3_prepare_v2(db, question, -1, &statement, NULL))
		return false;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0)) {
		buf_addf(out, "%s;\n", sqlite3_column_text(statement, 0));
		found = true;
	}
	sqlite3_finalize(statement);
	return found;
}

int sql_describe(struct sql *s, const char *table, struct buf *out, struct error *err)
{
	bool found = false;
	int ret = sql_ready(s, err);

	if (ret)
		return ret;
	for (const struct sql_columns *c = sql_columns; c->name; c++) {
		if (table && sqlite3_stricmp(table, c->name))
			continue;
		describe_table(c, out);
		found = true;
	}
	for (const struct sql_view *v = sql_views; v->name; v++) {
		if (table && sqlite3_stricmp(table, v->name))
			continue;
		describe_view(s->db, v, out);
		found = true;
	}
	if (!found && !describe_own(s->db, table, out))
		return error_set(err, ENOENT,
		                 "there is no table or view %s; .tables lists all of them", table);
	return 0;
}
