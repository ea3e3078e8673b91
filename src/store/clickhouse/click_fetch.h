/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_fetch: copies a range of a store on a ClickHouse server into a SQLite database.
 *
 * The database has the schema of a store (store/sqlite/schema.h) and is empty; the reader of SQLite
 * stores makes a profile from it, so both engines give the same figures. Ids are numbered again.
 * Answers are not trusted: a length or a count that is wrong ends with -EPROTO, an unknown id
 * refers to a missing row, which the reader replaces (store_reader.h).
 *
 * Errors: those of the server and of the database; -ENODATA: no windows in the range; -EINVAL: no
 * such host or service, or several hosts and none was chosen. One thread. Uses: base, format,
 * store/sqlite.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_FETCH_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_FETCH_H

#include "store/clickhouse/click_server.h"
#include "store/sqlite/read/store_reader.h"
#include "store/store.h"

/*
 * Of several hosts with range->sums, the server adds up their samples by program and path: one
 * process stands for all of a name. `rows`: gets samples and stacks in place of their tables; NULL:
 * the tables get them. -ENOSPC: they do not fit. `waits_alone`: the sums of waits instead of
 * samples.
 */
int click_fetch(struct click_server *server, const struct store_range *range, struct database *into,
                struct store_rows *rows, bool waits_alone, struct error *err);
/* Adds changes to the server. */
int click_changes_add(struct click_server *s, const struct store_change *changes, size_t count,
                      struct error *err);

#endif
