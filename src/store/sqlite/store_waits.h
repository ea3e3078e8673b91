/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_waits: the waits of windows in a SQLite database: writing, reading, adding up.
 *
 * The functions run within a transaction of the caller, which is that of the window. Errors are
 * those of the database. One thread. Uses: base, store.
 */
#ifndef ASSAY_STORE_SQLITE_STORE_WAITS_H
#define ASSAY_STORE_SQLITE_STORE_WAITS_H

#include "store/sqlite/names.h"
#include "store/store.h"

/* Texts are looked up, or added, through `names`. */
int store_waits_write(struct database *db, struct names *names, int64_t window,
                      const struct store_waits *waits, struct error *err);
/*
 * Adds up the waits of a database that has the tables of this version. `waits` is initialized.
 * `chosen`: the database has only the hosts and services of the range.
 */
int store_waits_sum(struct database *db, const struct store_range *range, bool chosen,
                    struct store_waits *waits, struct error *err);
/* Adds a function for the statements below to the connection. */
int store_waits_prepare(struct database *db, struct error *err);
/* Moves the waits of a window to another one, in which rare causes become STORE_WAIT_OTHERS. */
int store_waits_move(struct database *db, int64_t from, int64_t into, struct error *err);
int store_waits_delete(struct database *db, int64_t window, struct error *err);

#endif
