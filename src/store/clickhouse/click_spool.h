/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_spool: where the windows of a store on a server wait until the server has them.
 *
 * It is a SQLite store (store/sqlite/sqlite_store.h), one for each server and host: in the
 * directory of the environment variable ASSAY_SPOOL, else in /var/lib/assay for root, else in the
 * cache of the user. A sent window has level CLICK_SPOOL_SENT until retention deletes it; the
 * newest one of the session stays, since the end of a killed session is read from it. So a writer
 * that was killed, or a server that was away, loses no window that the spool has room for.
 * Stateless. Uses: base, store/sqlite.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SPOOL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SPOOL_H

#include "store/clickhouse/click_sender.h"
#include "store/sqlite/sqlite_store.h"

#define CLICK_SPOOL_SENT 4 /* above all levels of merged windows */

/* The file for a store's name. Its directory is created. The caller frees the path. */
int click_spool_path(const char *name, char **path, struct error *err);

/*
 * Sends waiting windows, the oldest first, at most `most`, and marks them as sent. *left: how many
 * still wait.
 */
int click_spool_send(struct database *db, struct click_sender *sender, size_t most, size_t *left,
                     struct error *err);

/* store_retention() of a spool: it also deletes windows that were sent, for a bounded time. */
int click_spool_retention(struct sqlite_store *spool, uint64_t now_ns, struct error *err);

#endif
