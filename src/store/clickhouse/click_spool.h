/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_spool: where the windows of a store on a server wait until the server has them.
 *
 * It is a SQLite store (store/sqlite/sqlite_store.h), one for each server and host: in the
 * directory of the environment variable ASSAY_SPOOL, else in /var/lib/assay for root, else in the
 * cache of the user. A window is taken before it is sent: its level is then 8 higher, and it is
 * neither merged nor deleted until the server has confirmed it, since the server may have it after
 * a lost answer. A sent window has level CLICK_SPOOL_SENT until retention deletes it; the newest
 * one of the session stays, since the end of a killed session is read from it. So a writer that was
 * killed, or a server that was away, loses no window that the spool has room for. One process
 * writes windows, and another one takes them; each of them has a lock. Stateless. Uses: base,
 * store/sqlite.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SPOOL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SPOOL_H

#include "base/process/sender_process.h"
#include "store/clickhouse/click_sender.h"
#include "store/sqlite/sqlite_store.h"

#define CLICK_SPOOL_SENT 4 /* above all levels of merged windows */

#define CLICK_SPOOL_TAKEN 8

typedef VEC(int64_t) click_window_ids;

/*
 * The file for a store's name, in `directory` or, if it is NULL, in the default one, which is
 * created. The caller frees the path.
 */
int click_spool_path(const char *name, const char *directory, char **path, struct error *err);

/*
 * Waits until no other process sends from the spool, and keeps it so until *fd is closed, or the
 * process ends. -EBUSY: another process has sent for all of this time.
 */
int click_spool_hold(const char *path, uint64_t wait_ms, int *fd, struct error *err);
/* Windows that were taken before, or else the oldest that wait; none: *ids is empty. */
int click_spool_take(struct database *db, click_window_ids *ids, struct send_count *count,
                     struct error *err);
/* Windows that were taken have been sent. */
int click_spool_sent(struct database *db, const click_window_ids *ids, struct error *err);
/*
 * Windows that wait or were taken; a merged window counts as its parts. Those with a larger id than
 * `newest` do not count: this connection sees a window before it is complete.
 */
int click_spool_waiting(struct database *db, int64_t newest, struct send_count *count,
                        struct error *err);

/*
 * The room of a spool: the limit of its size is what the disk has, and a file beside it (PATH-room)
 * reserves a part for sending and deleting windows. When the disk is full, the file is removed, and
 * no window is added until there is room for it again.
 */
struct click_room {
	uint64_t asked;  /* the limit that the user asked for */
	uint64_t spared; /* size of the reserve; 0: not known yet */
	bool held;
};

/* Removes the reserve. Before the spool is opened, when the disk is full, and at the end. */
void click_spool_room_release(struct click_room *room, const char *path);
/* Makes the reserve if there is room for it, sets the limit of the spool, and its size of WAL. */
void click_spool_room_hold(struct click_room *room, struct sqlite_store *spool);

/* store_retention() of a spool: it also deletes windows that were sent, for a bounded time. */
int click_spool_retention(struct sqlite_store *spool, uint64_t now_ns, struct error *err);

#endif
