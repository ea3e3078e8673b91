/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink: where a measurement's records go: a file, a ring in memory (flight recorder), a store.
 *
 * The command makes a sink (sinks/) and gives it to session_record(). The session calls, in this
 *order and from one thread:
 *
 *	open()		the events are planned, nothing runs yet
 *	append()	whole records in perf's form, as often as wanted
 *	flush()		now and then: what came must survive our death from here on
 *	snapshot()	at any time between two reads of the rings: what there is, into a file
 *	close() or abandon()   once; both free the sink
 *
 * Records come in time order where the sink asked for it (`ordered`), else ring after ring,
 * with a FINISHED_ROUND record behind each round. An error of append() or flush() ends the
 * measurement, but for ENOSPC of a sink that says so itself (a store goes on, with a gap).
 * Uses: base, event, format, session.
 */
#ifndef ASSAY_SESSION_SINK_H
#define ASSAY_SESSION_SINK_H

#include "base/error.h"
#include "event/recording.h"
#include "format/perf/perf_data.h"
#include "session/status.h"

struct session;
struct session_sink;

struct session_sink_ops {
	/* `described`: host, events, clocks; no account yet. Good until close(). */
	int (*open)(struct session_sink *s, const struct perf_data_attr *attrs, size_t count,
	            const struct recording *described, struct error *err);
	/* Sampling is on since then: ticks before it do not count. NULL: does not matter. */
	void (*begun)(struct session_sink *s, uint64_t start_ns);
	int (*append)(struct session_sink *s, const void *records, size_t bytes, struct error *err);
	int (*flush)(struct session_sink *s, const struct session_status *now, struct error *err);
	/*
	 * Writes what there is to `path` as if it had ended now; `r`: the account so far. NULL:
	 * it can't. The path is absolute; an older file becomes PATH.old.
	 */
	int (*snapshot)(struct session_sink *s, const char *path, const struct recording *r,
	                const struct session_status *now, struct error *err);
	int (*close)(struct session_sink *s, const struct recording *r,
	             const struct session_status *last, struct error *err);
	/* `began`: something was sampled, keep what was flushed; else as if never opened. */
	void (*abandon)(struct session_sink *s, bool began);
	uint64_t (*bytes)(const struct session_sink *s); /* written, or held */
};

/* What all sinks begin with. */
struct session_sink {
	const struct session_sink_ops *ops;
	struct session *session; /* set before open(): for session_status_take() and the like */
	struct foreign *foreign; /* set before open(): for files of other processes; NULL: none */
	bool ordered;            /* records are wanted in time order, and the ticks counted */
	bool grows;              /* its file is there by its name from open() on */
	bool names; /* what is seen is named at once: files that are deleted later need not be
	               kept, but the rights to read names must be */
	uint64_t flush_ns; /* flush() so often, at multiples of that on the wall's clock; 0: 8 s
	                      after the last one, as pace.h has it */
};

#endif
