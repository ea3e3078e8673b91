/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_sink: writes a measurement without an end to a store.
 *
 * Records are decoded as they arrive and aggregated by window (profile_windows.h); each window is
 * written when it is complete. If the disk is full, the window is lost, and a gap is added to the
 * store later; also if the wall clock was set or the machine was suspended. A snapshot is a copy of
 * the whole store. Life cycle and threads are those of sink.h. Uses: base, event, process, profile,
 * format, store.
 */
#ifndef ASSAY_SESSION_SINKS_STORE_SINK_H
#define ASSAY_SESSION_SINKS_STORE_SINK_H

#include "session/sink.h"
#include "store/store.h"

/* What was sent to a server, with windows that could not be written. */
struct store_sink_sent {
	struct session_sink *sink; /* NULL: closed, or not open yet */
	bool known;                /* false: the store is a file */
	struct send_account account;
	char spool[4096]; /* account.spool */
};

/*
 * Fills `out` with the waits of a window that begins at start_ns of the recording's clock. `r`: the
 * recording.
 */
typedef void store_waits_fn(void *ctx, const struct profile *p, const struct recording *r,
                            uint64_t start_ns, struct store_waits *out);

struct store_sink_options {
	const char *path;
	uint64_t window_ns; /* 0: 10 s */
	struct store_retention_rules keeping;
	struct store_server server;
	struct store_sink_sent
	        *sent;       /* zeroed; filled by store_sink_look() and at the end; NULL: none */
	store_name_fn *name; /* NULL: frames get no names */
	void *name_ctx;
	/* Called before the first name with the process that reads files of others; NULL: not
	 * needed.
	 */
	void (*name_foreign)(void *name_ctx, struct foreign *foreign);
	store_waits_fn *waits; /* NULL: waits are not kept */
	void *waits_ctx;
};

struct session_sink *store_sink_new(const struct store_sink_options *options);
void store_sink_look(struct store_sink_sent *sent);

#endif
