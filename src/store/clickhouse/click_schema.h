/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_schema: creates, upgrades and checks the tables of a store on a ClickHouse server
 * (click_tables.h).
 *
 * Ids are hashes of contents (BLAKE2b, 64 bits), equal on all hosts, so that writers need no
 * numbers from the server. Rows of dictionaries may be present several times until the server
 * merges parts; readers keep the last one by `changed`. docs/FORMAT.md describes the columns.
 *
 * A row of `samples_2` counts only if `windows_2` has a row with its `part`, a row of `ledger` if
 * it has one with its part in `parts`: a part is one arrival of one attempt to send a window
 * (click_arrival.h), and the row in `windows_2`, which is sent last, commits it. click_counted.h
 * decides which windows count.
 *
 * An upgrade renames the tables whose columns change. Under their old names, writers of the version
 * before reach the new tables, as long as they run. Stateless. Uses:
 * store/clickhouse/click_server.h.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SCHEMA_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SCHEMA_H

#include "store/clickhouse/click_server.h"

/*
 * Version 1 had no samples_2.version, .labels and .period, and no windows_2.replaces. Version 2 had
 * no windows_2.parts, wait_causes, waits, wait_times and changes.
 */
#define CLICK_VERSION 3

/* Stands for NULL in columns of Int64. */
#define CLICK_NULL INT64_MIN

/*
 * Creates the database and the tables that are missing, and upgrades a store of version 1.
 * `cluster`: a name of the servers' configuration; NULL: one server. -EINVAL: it is no name.
 */
int click_schema_create(struct click_server *s, const char *cluster, struct error *err);
/* -ENODATA: no store; -EPROTO: a later version; -ESTALE: an earlier one. */
int click_schema_check(struct click_server *s, struct error *err);
/* The same; with `create`, a missing store is created and an earlier one is upgraded. */
int click_schema_ready(struct click_server *s, bool create, struct error *err);

#endif
