/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sqlite_store_internal: shared by the files of the writer of a store. Life cycle and threads are
 * those of store.h.
 *
 * Every write happens between store_write_begin() and store_write_end() or _undo(). Dictionaries
 * in memory mirror rows of the database. store_forget() drops them after a rollback, and after
 * rows of dictionary tables (name, image, function, frame, stack, event, instance) were deleted
 * or changed. Uses: base, event.
 */
#ifndef ASSAY_STORE_SQLITE_SQLITE_STORE_INTERNAL_H
#define ASSAY_STORE_SQLITE_SQLITE_STORE_INTERNAL_H

#include "store/sqlite/names.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

struct sqlite_store {
	struct store store;
	struct database db;
	struct store_options options; /* keeping: zeros replaced by the defaults */
	int lock_fd;                  /* of FILE.db-lock; -1: no session has begun */

	/* The current session; session 0: none */
	int64_t session, host;
	int64_t process_base, thread_base;
	uint64_t process_seen, thread_seen; /* largest serials that have rows */
	int64_t wall_offset_ns;             /* wall clock - clock of the recording, at its begin */
	uint64_t last_end_ns;               /* end of the newest window of the host; 0: none */
	uint64_t windows;                   /* written in this session */
	struct store_budget budget;         /* of the last one */
	bool all_again; /* a window was rolled back, so rows that are marked as written must be
	                   written again */
	/*
	 * Of a spool: threads that ended have rows only if samples refer to them, and are not sent
	 * otherwise. Most threads of short processes have no samples.
	 */
	bool sampled_threads;
	struct names names;
	/* In merged windows the frame of the lowest address stands for a function, not the first.
	 */
	bool lowest_frames;
	/* Windows that retention deleted before they were sent (click_spool.h). */
	struct send_count deleted;

	struct store_retention_run
	        *keeper; /* state of sqlite_store_retention(); NULL: not called yet */
};

#define STORE_FINE_NS (24 * 3600 * 1000000000ull)
#define STORE_COARSE_NS (30 * STORE_FINE_NS)
#define STORE_ALL_NS (365 * STORE_FINE_NS)
#define STORE_BYTES (4000000000ull)

/* BEGIN IMMEDIATE; COMMIT; ROLLBACK with store_forget(). A failed end rolls back by itself. */
int store_write_begin(struct sqlite_store *s, struct error *err);
int store_write_end(struct sqlite_store *s, struct error *err);
void store_write_undo(struct sqlite_store *s);
void store_forget(struct sqlite_store *s);

/* Adds a row to gap, within a transaction. */
int store_gap_row(struct sqlite_store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
                  struct error *err);

#endif
