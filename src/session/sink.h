/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink: the destination of a measurement's records: a file, a flight recorder in memory, a store.
 *
 * The command makes a sink (sinks/) and gives it to session_record(). The session calls, in this
 * order and from one thread:
 *
 *	open()			after the events were planned, before sampling
 *	append()		complete records in perf's format, any number of times
 *	flush()			sometimes: all records so far must survive a crash
 *	snapshot()		at any time between two reads of the rings: writes a file
 *	close() or abandon()	once; both free the sink
 *
 * A sink that needs decoded events sets `events` in open(): the stream, which decodes records for
 * itself, delivers each event there, and then passes the records to keep() instead of append().
 * Records that the session makes itself come to append().
 *
 * Records come in time order if the sink requests it (`ordered`), else ring by ring, with a
 * FINISHED_ROUND record after each round. An error of append() or flush() ends the measurement,
 * except ENOSPC of a sink that handles it itself (a store continues, with a gap).
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
	/* `described`: host, events, clocks; no account yet. Valid until close(). */
	int (*open)(struct session_sink *s, const struct perf_data_attr *attrs, size_t count,
	            const struct recording *described, struct error *err);
	/* Sampling started at start_ns: earlier ticks do not count. NULL: not needed. */
	void (*begun)(struct session_sink *s, uint64_t start_ns);
	int (*append)(struct session_sink *s, const void *records, size_t bytes, struct error *err);
	/* With `events`: the records of events that were delivered there. NULL: not needed. */
	int (*keep)(struct session_sink *s, const void *records, size_t bytes, struct error *err);
	int (*flush)(struct session_sink *s, const struct session_status *now, struct error *err);
	/*
	 * Writes all data to `path` as if the measurement had ended now; `r`: the account so far.
	 * NULL: not supported. The path is absolute; an older file becomes PATH.old.
	 */
	int (*snapshot)(struct session_sink *s, const char *path, const struct recording *r,
	                const struct session_status *now, struct error *err);
	int (*close)(struct session_sink *s, const struct recording *r,
	             const struct session_status *last, struct error *err);
	/*
	 * `began`: sampling had started, so flushed data is kept; else all traces of the sink are
	 * removed.
	 */
	void (*abandon)(struct session_sink *s, bool began);
	uint64_t (*bytes)(const struct session_sink *s); /* written, or held */
};

/* The first member of all sinks. */
struct session_sink {
	const struct session_sink_ops *ops;
	struct session *session;  /* set before open(): for session_status_take() and the like */
	struct foreign *foreign;  /* set before open(): for files of other processes; NULL: none */
	struct event_sink events; /* its function event() alone; NULL: append() gets all records */
	bool events_only;         /* with `events`: keep() gets no records, only the call */
	bool ordered;             /* it needs records in time order, and the count of ticks */
	bool grows;               /* its file exists under its name from open() on */
	bool keeps; /* with `names`: a report of the records is made later, too: such files are kept
	             */
	bool names; /* functions are named at once: files that are deleted later need not be
	               kept, but the rights to read names must be */
	uint64_t flush_ns; /* interval of flush(), at multiples of it on the wall clock; 0: by age
	                      of the data, as in wakeup_schedule.h */
};

#endif
