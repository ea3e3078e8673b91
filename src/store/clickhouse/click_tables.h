/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_tables: the tables of a store on a ClickHouse server, and the statements that create them.
 *
 * On one server a table is a MergeTree. On a cluster it is a Distributed table over the tables
 * NAME_local of the shards, which are replicated: readers and writers use the same names on both.
 * Rows of a host are in one shard, rows of dictionaries in the shard of their id. Only features of
 * ClickHouse 18.16. Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_TABLES_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_TABLES_H

#include "base/memory/buf.h"

#include <stdbool.h>

#define CLICK_SAMPLES "samples_2"
#define CLICK_WINDOWS "windows_2"

struct click_definition {
	const char *name;
	const char
	        *columns; /* "host UInt64, time DateTime", in the order of the rows that are sent */
	const char *aliases; /* columns that are computed; NULL: none */
	const char *engine;  /* "Replacing" or "" */
	const char *newest;  /* column of which the largest value counts; NULL: none */
	const char *partition, *order, *shard; /* expressions; partition NULL: one partition */
	/*
	 * Version 1 had this table without the columns from `added` on, under the name `before`.
	 * NULL: it is as in version 1. Statements that add these columns, up to a NULL.
	 */
	const char *before, *added;
	const char *const *changes;
};

extern const struct click_definition click_tables[];
extern const size_t click_table_count;

/* "samples_2 (service, host, ...)": the table and the columns of an insert. Writes to `out`. */
void click_table_target(const char *name, struct buf *out);
/* "host UInt64, time DateTime, ...": the columns of a row that is sent. */
const char *click_table_columns(const char *name);
/* "host, time, EXPRESSION AS part, ...": the same as values of a statement, with another one. */
void click_table_values(const char *name, const char *column, const char *expression,
                        struct buf *out);
/*
 * The statement that creates table `t`, or with a cluster `local`, the replicated table of a shard.
 * `cluster` NULL: one server.
 */
void click_table_create(const struct click_definition *t, const char *database, const char *cluster,
                        bool local, struct buf *out);
/*
 * The statement that creates table NAME_before: inserts of writers of version 1 go into the table
 * of this version.
 */
void click_table_forward(const struct click_definition *t, const char *database, struct buf *out);

#endif
