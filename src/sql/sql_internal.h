/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_internal: shared by the files that implement sql.h. Uses: base, store.
 */
#ifndef ASSAY_SQL_SQL_INTERNAL_H
#define ASSAY_SQL_SQL_INTERNAL_H

#include "sql/sql.h"
#include "sql/tables/table.h"
#include "sql/views.h"
#include "store/sqlite/database.h"

struct sql {
	sqlite3 *db;
	struct database store; /* if is_store: owns the handle `db` */
	bool is_store;
	struct sql_tables *tables;
	struct sql_functions *functions;
	struct sql_groups *groups;
	struct group_rules *rules;         /* NULL: those of assay */
	bool ready;                        /* sql_ready() has run */
	const volatile sig_atomic_t *stop; /* a statement ends when *stop is not 0; may be NULL */
	char refusal[256];
};

/* Creates tables, functions and views, once, and then calls sql_guard(). */
int sql_ready(struct sql *s, struct error *err);
/* Sets the error message of SQLite for a failure at `text + offset`; offset -1: not known. */
int sql_fail(struct sql *s, int code, const char *text, int offset, struct error *err);

/* The existing name that is most similar to the unknown name in SQLite's `message`, for the
 * statement `text`; NULL: no name is similar. The caller frees it. */
char *sql_suggest(struct sql *s, const char *message, const char *text);

/* From now on statements may only read, and write to temporary tables. */
void sql_guard(struct sql *s);

/* Creates the views of a store as temporary views (store_tables.c). */
int sql_store_views(struct sql *s, struct error *err);
bool sql_store_has(void *s, const char *table); /* `table` is one of these views */

#endif
