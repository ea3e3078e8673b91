/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_sink: a measurement for a reader who looks at it while it runs: sums of the last seconds and
 * of all, and the records themselves in another sink.
 *
 * Records are decoded as they arrive and aggregated (profile/profile_windows.h). Each call of
 * live_sink_look() ends a window and adds it to a history (profile/profile_history.h), from which
 * live_sink_select() makes the profile of a stretch, with its account. The records are passed on to
 * the sink `records`, which live_sink_new() takes over: a file, or a flight recorder, from which
 * snapshots are made. Names of generated code are read as the processes write them. A snapshot and
 * the end of the measurement end a window at the same moment as the records, so that the figures of
 * all windows are those of the file.
 *
 * Life cycle and threads are those of sink.h. The profile of live_sink_select() is valid until the
 * next call of it, and until close() returned. A window that is added changes its tables, but not
 * its rows: documents of it stay valid. Uses: base, event, process,
 * profile, format, session.
 */
#ifndef ASSAY_SESSION_SINKS_LIVE_SINK_H
#define ASSAY_SESSION_SINKS_LIVE_SINK_H

#include "profile/profile_history.h"
#include "session/sink.h"

struct live_sink_options {
	struct session_sink *records; /* NULL: the records are not kept */
	bool waits;                   /* the profiles have waits, if the events do */
	bool drop_records;            /* they are for snapshots alone: the end writes nothing */
	/* Called before the history begins again, and at the end: the tables of the profile that
	 * was selected are about to be freed. */
	void (*changes)(void *ctx);
	/* The measurement ended, and the last window was added; the session's account is `r`. */
	void (*ended)(void *ctx, const struct recording *r, const struct session_status *last);
	void *ctx;
};

struct session_sink *live_sink_new(const struct live_sink_options *options);

/* Ends the present window, at the time up to which all records arrived; for hooks. */
int live_sink_look(struct session_sink *sink, const struct session_status *now, struct error *err);

/*
 * The sums of at least the last `span_ns`, or of all (0). `whole` and `now`: the account of the
 * measurement until now (session_describe()); `whole` must stay valid as long as the profile. NULL:
 * there is no window yet.
 */
struct profile *live_sink_select(struct session_sink *sink, uint64_t span_ns,
                                 const struct recording *whole, const struct session_status *now);

/* Writes the records to a file, with the account until now. */
int live_sink_save(struct session_sink *sink, const char *path, const struct recording *whole,
                   const struct session_status *now, struct error *err);
/* The span of live_sink_select(), in ns. */
uint64_t live_sink_span(const struct session_sink *sink, uint64_t span_ns);

#endif
