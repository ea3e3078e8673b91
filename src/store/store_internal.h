/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_internal: what the files of a store's writer share. Life cycle and threads are those
 * of store.h.
 *
 * All writing goes between store_write_begin() and store_write_end() or _undo(). Dictionaries
 * in memory mirror rows of the database; store_forget() drops them, after an undone
 * transaction and after rows of dictionary tables (name, image, function, frame, stack, event,
 * instance) were deleted or changed. Uses: base, event.
 */
#ifndef ASSAY_STORE_INTERNAL_H
#define ASSAY_STORE_INTERNAL_H

#include "store/names.h"
#include "store/schema.h"
#include "store/store.h"

struct store {
	struct database db;
	struct store_options options; /* keeping: zeros replaced by the defaults */
	int lock_fd;                  /* FILE.db-lock, -1: no session was begun */

	/* The session under way; session 0: none */
	int64_t session, host;
	int64_t process_base, thread_base;
	uint64_t process_seen, thread_seen; /* greatest serials that have rows */
	int64_t wall_less_ns;               /* wall - recording's clock, as it began */
	uint64_t last_end_ns;               /* of the host's newest window; 0: none */
	uint64_t windows;                   /* written in this session */
	bool all_again; /* a window was undone: what is marked as told was not */
	struct names names;

	struct store_keeper *keeper; /* what store_keep() goes on with; NULL: not called yet */
};

#define STORE_FINE_NS (24 * 3600 * 1000000000ull)
#define STORE_COARSE_NS (30 * STORE_FINE_NS)
#define STORE_ALL_NS (365 * STORE_FINE_NS)
#define STORE_BYTES (4000000000ull)

/* BEGIN IMMEDIATE; COMMIT; ROLLBACK with store_forget(). End undoes by itself where it fails. */
int store_write_begin(struct store *s, struct error *err);
int store_write_end(struct store *s, struct error *err);
void store_write_undo(struct store *s);
void store_forget(struct store *s);

/* Adds a row to gap, within a transaction. */
int store_gap_row(struct store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
                  struct error *err);

#endif
