/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_internal: what the files behind sql.h share. Uses: base, store.
 */
#ifndef ASSAY_SQL_SQL_INTERNAL_H
#define ASSAY_SQL_SQL_INTERNAL_H

#include "sql/sql.h"
#include "sql/table.h"
#include "sql/views.h"
#include "store/database.h"

struct sql {
	sqlite3 *db;
	struct database store; /* whose handle db is, where it is one of a store */
	bool is_store;
	struct sql_tables *tables;
	struct sql_functions *functions;
	bool ready;                        /* all tables and views are made, and guards are up */
	const volatile sig_atomic_t *stop; /* statements end once it is not 0; NULL: none */
	char refusal[256];
};

/* Makes tables, functions and views, once; whatever is asked afterwards is guarded. */
int sql_ready(struct sql *s, struct error *err);
/* Sets SQLite's sentence for a failure at `text + offset`; offset -1: nowhere in particular. */
int sql_fail(struct sql *s, int code, const char *text, int offset, struct error *err);

/* The name there is that is nearest to the one that SQLite's message says there is not, in a
 * statement; NULL: none is near. The caller frees it. */
char *sql_suggest(struct sql *s, const char *message, const char *text);

/* From now on what is asked may read, and write to temporary tables alone. */
void sql_guard(struct sql *s);

/* The store's own views, as temporary ones of our making: store_tables.c. */
int sql_store_views(struct sql *s, struct error *err);
bool sql_store_has(void *s, const char *table); /* one of them */

#endif
