/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_keep: retention on a ClickHouse server: windows are merged into longer ones as they age,
 * and deleted.
 *
 * Any machine may run it, several may at the same time, while writers send. The windows
 * of a session in a slot of 10 minutes or 2 hours are read, merged by the retention of SQLite
 * stores, and sent as a window that names those which it replaces (click_counted.h). Its key is
 * that of the session, level and slot: if two machines merge the same slot, one of the two counts.
 * The replaced windows are deleted at least KEEP_GRACE_S later. A process that is killed leaves
 * rows that do not count. Windows that arrive after their slot was merged wait for the next level.
 *
 * Sums of the samples of all hosts are made for slots of which all windows are merged; readers of
 * all hosts use them (click_fetch_runs.c).
 *
 * Errors: those of the server; -EINVAL: no such host. One thread. Uses: store.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_KEEP_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_KEEP_H

#include "store/store.h"

/* Replaced windows stay so long, in s: a reader may read them, and clocks of servers differ. */
#define CLICK_KEEP_GRACE_S 600

/* ASSAY_CLICKHOUSE_GRACE in the environment, in s, is instead of CLICK_KEEP_GRACE_S. */
int click_keep(const char *name, const struct store_retention_rules *rules, uint64_t now_ns,
               struct store_kept *kept, struct error *err);

#endif
