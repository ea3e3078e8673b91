/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_sender: sends windows of a SQLite database, a spool or a store to copy, to a server.
 *
 * A window is sent with all that its rows refer to. Rows of dictionaries are sent once per sender.
 * The window's own row comes last and commits it (click_schema.h), so a sender that is killed or
 * fails leaves no half of a window; sending it again is safe, since its key depends on its contents
 * alone. After an error the sender forgets what it sent, and if rows of dictionaries were deleted
 * from the database since then (its property "sweeps"). Another process may write to the database.
 *
 *	click_sender_new(server, db)
 *	click_sender_windows(s, ids, count)
 *	click_sender_free(s)
 *
 * Errors are those of the database and of the server. One thread. Uses: base, process, format,
 * store/sqlite.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SENDER_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SENDER_H

#include "store/clickhouse/click_server.h"
#include "store/sqlite/database.h"

struct click_sender;

/* A window that was merged from windows of the server (click_keep.h). */
struct click_merged {
	uint64_t key;
	const struct click_map *replaces;            /* keys of windows */
	const struct click_map *processes, *threads; /* hashes by ids of the database */
};

struct click_sender *click_sender_new(struct click_server *server, struct database *db);
/* The windows are of this machine, and of now: its clock is compared with that of the server. */
void click_sender_live(struct click_sender *s);
/* The connection was closed and opened again. */
void click_sender_to(struct click_sender *s, struct click_server *server);
void click_sender_free(struct click_sender *s); /* NULL-safe */
void click_sender_forget(struct click_sender *s);

/* Sends windows, given by their ids in the table `window`, in one batch. */
int click_sender_windows(struct click_sender *s, const int64_t *windows, size_t count,
                         struct error *err);
/*
 * Sends the merged window of another database. Rows of dictionaries that this sender sent before
 * are not sent again.
 */
int click_sender_merged(struct click_sender *s, struct database *db, int64_t window,
                        const struct click_merged *merged, struct error *err);
/* Sends the rows of all sessions and gaps of the database that changed: ends, reasons, notes. */
int click_sender_sessions(struct click_sender *s, struct error *err);

/* The difference to the server's clock that a note of a session states, in ns; 0: none. */
int64_t click_clock_of_note(const char *note);

#endif
