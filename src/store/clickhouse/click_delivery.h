/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_delivery: the process that sends the windows of a spool to its server (sender_process.h).
 *
 * It takes the oldest windows, sends them in one batch, and marks them as sent in the spool. At the
 * end it also sends the rows of sessions. A window stays in the spool, whatever the server answers.
 *
 *	click_delivery_start(&d, name, path, &server, err)	before this process opens the spool
 *	click_delivery_ready(d, err)	the server answers and has the tables, which may be created
 *	click_delivery_wake(d)		after the spool was opened, and for each window
 *	click_delivery_free(d)		NULL-safe
 *
 * One thread. Uses: base, store/sqlite.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_DELIVERY_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_DELIVERY_H

#include "base/process/sender_process.h"
#include "store/store.h"

struct click_delivery;

/* name: of the store; path: of the spool. */
int click_delivery_start(struct click_delivery **d, const char *name, const char *path,
                         const struct store_server *server, struct error *err);
int click_delivery_ready(struct click_delivery *d, struct error *err);
void click_delivery_wake(struct click_delivery *d);
struct sender_process *click_delivery_process(const struct click_delivery *d);
void click_delivery_free(struct click_delivery *d);

#endif
