/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * views: views over the public tables (columns.h) for common queries. They run in SQLite 3.30 or
 * later without functions of assay, so recordings, stores and exported databases have the same
 * views. diff() is a table-valued function that compares two time ranges.
 *
 * A share is a share of the weight of the main event (`sessions.event`), idle time included, as
 * in a report. Constants. Any thread. Uses: base.
 */
#ifndef ASSAY_SQL_VIEWS_H
#define ASSAY_SQL_VIEWS_H

#include "base/error.h"

#include <sqlite3.h>

struct group_rules;
struct sql;

struct sql_view {
	const char *name;
	const char *select;
};

/* NULL name at the end. */
extern const struct sql_view sql_views[];

/* Adds the table diff(a_from, a_to, b_from, b_to) (sql/tables/table.h), which queries `db`. */
int sql_diff_add(struct sql *s, sqlite3 *db, struct error *err);

/*
 * Adds the functions stack_text(), leaf(), kernel_entry(), ns_text() and time_text() to a
 * connection. Free *out before the connection is closed, also after an error.
 */
struct sql_functions;
int sql_functions_add(struct sql_functions **out, sqlite3 *db, struct error *err);
void sql_functions_free(struct sql_functions *f); /* NULL-safe */
/* Drops cached stacks. Call before each statement, since a store may have changed. */
void sql_functions_forget(struct sql_functions *f);

/*
 * Adds function_group() and stack_group() with these rules, which must outlive it; NULL: those of
 * assay. Life cycle as above. sql_groups_view() makes the table stack_groups, once.
 */
struct sql_groups;
int sql_groups_add(struct sql_groups **out, sqlite3 *db, struct group_rules *rules,
                   struct error *err);
void sql_groups_free(struct sql_groups *g); /* NULL-safe */
void sql_groups_forget(struct sql_groups *g);
int sql_groups_view(struct sql *s, struct error *err);

#endif
