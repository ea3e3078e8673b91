/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_store: the engine of stores on a ClickHouse server, and copies between both engines.
 *
 * A writer writes each window to a spool (click_spool.h), from which another process sends it
 * (click_delivery.h): the writer never waits for the server, except at the begin and for some
 * seconds at the end. If the server is away, windows wait in the spool. Opening a store creates the
 * database and its tables if they are missing and the server allows it. It fails if the server
 * cannot be reached, and store_end() fails if windows are left, both unless store_server.away. Life
 * cycle, units, errors and threads are those of store.h. Uses: store, store/sqlite.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_STORE_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_STORE_H

#include "store/sqlite/database.h"
#include "store/store_engine.h"

extern const struct store_engine click_engine;

/* Creates the database and the tables that are missing. `cluster`: NULL: one server. */
int click_store_create(const char *name, const char *cluster, struct error *err);
/*
 * Copies all windows of a SQLite store to a server. Windows that the server has are skipped by
 * their keys. *windows: how many were sent.
 */
int click_store_send(const char *path, const char *name, uint64_t *windows, struct error *err);
/* Copies a range of a store on a server into a new SQLite store. */
int click_store_fetch(const char *name, const struct store_range *range, const char *path,
                      struct error *err);
/* The same into a database in memory with the schema of a store; database_close() frees it. */
int click_store_fetch_memory(const char *name, const struct store_range *range, struct database *db,
                             struct error *err);

#endif
