/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sqlite_fixture: reads and changes a database file with SQLite alone, without assay's code. One
 * thread.
 */
#ifndef ASSAY_TESTS_SQLITE_FIXTURE_H
#define ASSAY_TESTS_SQLITE_FIXTURE_H

#include "check.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

/* All rows of a query, "a|b;c|d"; valid until the next call. */
static inline const char *sqlite_text(const char *path, const char *query)
{
	static char answer[4096];
	sqlite3_stmt *rows = NULL;
	sqlite3 *db = NULL;
	size_t at = 0;

	answer[0] = 0;
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
	    sqlite3_prepare_v2(db, query, -1, &rows, NULL))
		snprintf(answer, sizeof(answer), "%s", sqlite3_errmsg(db));
	while (rows && sqlite3_step(rows) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(rows) && at < sizeof(answer) - 1; i++) {
			const unsigned char *text = sqlite3_column_text(rows, i);

			at += (size_t)snprintf(answer + at, sizeof(answer) - at, "%s%s",
			                       !at ? ""
			                       : i ? "|"
			                           : ";",
			                       text ? (const char *)text : "-");
		}
	sqlite3_finalize(rows);
	sqlite3_close(db);
	return answer;
}

/* The first column of the first row; -1 and a message if there is none. */
static inline int64_t sqlite_number(const char *path, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t got = -1;
	sqlite3 *db;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
	    sqlite3_prepare_v2(db, sql, -1, &s, NULL) || sqlite3_step(s) != SQLITE_ROW)
		printf("# %s: %s\n", sql, sqlite3_errmsg(db));
	else
		got = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return got;
}

static inline void sqlite_change(const char *path, const char *sql)
{
	char *why = NULL;
	sqlite3 *db = NULL;

	CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_EQ(sqlite3_exec(db, sql, NULL, NULL, &why), SQLITE_OK);
	if (why)
		printf("# %s: %s\n", sql, why);
	sqlite3_free(why);
	sqlite3_close(db);
}

#endif
