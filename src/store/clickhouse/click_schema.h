/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_schema: the tables of a store on a ClickHouse server.
 *
 * Ids are hashes of contents (BLAKE2b, 64 bits), equal on all hosts, so that writers need no
 * numbers from the server. Rows of dictionaries may be present several times until the server
 * merges parts; readers keep the last one by `changed`. docs/FORMAT.md describes the columns.
 *
 * A row of `samples` and `ledger` counts only if `windows` has a row with its `part`: a part is one
 * attempt to send a window, and the row in `windows`, which is sent last, commits it. Of several
 * parts of one key, a window that was sent again after a lost answer, readers use the smallest.
 *
 * Only features of ClickHouse 18.16. Stateless. Uses: store/clickhouse/click_server.h.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SCHEMA_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SCHEMA_H

#include "store/clickhouse/click_server.h"

#define CLICK_VERSION 1

/* Stands for NULL in columns of Int64. */
#define CLICK_NULL INT64_MIN

/* Creates the database and the tables that are missing. */
int click_schema_create(struct click_server *s, struct error *err);
/* -ENODATA: no store; -EPROTO: a later version. */
int click_schema_check(struct click_server *s, struct error *err);

#endif
