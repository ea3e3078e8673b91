/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * views: the usual questions, as views over the public tables (columns.h), in SQL that any
 * SQLite from 3.30 on runs without functions of ours: the same for recordings, stores and
 * what is exported. diff() is a function, and compares two stretches of time.
 *
 * Shares are of the main event's weight (`sessions.event`), idle time included, as in a
 * report. Constants. Any thread. Uses: base.
 */
#ifndef ASSAY_SQL_VIEWS_H
#define ASSAY_SQL_VIEWS_H

#include "base/error.h"

#include <sqlite3.h>

struct sql;

struct sql_view {
	const char *name;
	const char *select;
};

/* NULL name at the end. */
extern const struct sql_view sql_views[];

/* Adds diff(a_from, a_to, b_from, b_to): sql/table.h's, asking `db`. */
int sql_diff_add(struct sql *s, sqlite3 *db, struct error *err);

/*
 * The functions stack_text(), leaf(), ns_text() and time_text(), in a connection; *out is to be
 * freed before that is closed, also after an error.
 */
struct sql_functions;
int sql_functions_add(struct sql_functions **out, sqlite3 *db, struct error *err);
void sql_functions_free(struct sql_functions *f); /* NULL-safe */
/* Before a statement: a store's stacks may be others than those of the one before. */
void sql_functions_forget(struct sql_functions *f);

#endif
