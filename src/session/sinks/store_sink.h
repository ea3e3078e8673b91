/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_sink: a measurement without an end, into a store.
 *
 * Records are decoded as they come, aggregated window by window (profile_windows.h), and each
 * window is written when it is over. A window that finds the disk full is lost, and the store
 * says so when there is room again; so it does where the clock of the wall was set, or the
 * machine slept. A snapshot is a copy of the whole store. Life cycle and threads are those of
 * sink.h. Uses: base, event, process, profile, format, store.
 */
#ifndef ASSAY_SESSION_SINKS_STORE_SINK_H
#define ASSAY_SESSION_SINKS_STORE_SINK_H

#include "session/sink.h"
#include "store/store.h"

struct store_sink_options {
	const char *path;
	uint64_t window_ns; /* 0: 10 s */
	struct store_retention_rules keeping;
	store_name_fn *name; /* NULL: frames get no names */
	void *name_ctx;
	/* Called before the first name: files of other processes are read by it; NULL: not wanted.
	 */
	void (*name_foreign)(void *name_ctx, struct foreign *foreign);
};

struct session_sink *store_sink_new(const struct store_sink_options *options);

#endif
