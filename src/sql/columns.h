/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns: the public tables and their columns, in order; docs/SQL.md explains them. A store
 * has the same names for its own. Constants, any thread. Uses: nothing of ours.
 */
#ifndef ASSAY_SQL_COLUMNS_H
#define ASSAY_SQL_COLUMNS_H

#include <stdbool.h>

struct sql_columns {
	const char *name;
	const char *columns; /* as in CREATE TABLE; the first is the key where it is `id` */
	const char *index;   /* columns that an exported table is indexed by; NULL: none */
	bool function;       /* takes arguments, and is no table that could be written out */
};

/* NULL name at the end. */
extern const struct sql_columns sql_columns[];

const struct sql_columns *sql_columns_find(const char *name); /* NULL: no public table */

#endif
