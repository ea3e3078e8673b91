/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_stream: from the rings to the sink in time order, record by record.
 *
 * On the way samples get the chains that are walked live, and the period that they stand for
 * where the rate was changed meanwhile; ticks are counted, and whoever hooked in is told of
 * tasks. All other records go on as the kernel made them. What is of the last moment, which
 * others may still precede, stays in the rings for the next time.
 *
 *	record_stream_new()	the events are open
 *	record_stream_event()	what ran before
 *	record_stream_read()	as often as wanted; once more at the end
 *	record_stream_account(), _status()
 *	record_stream_free()	NULL-safe
 *
 * One thread. Times are ns of CLOCK_MONOTONIC. Uses: base, event, process, profile, source, format.
 */
#ifndef ASSAY_SESSION_STREAM_RECORD_STREAM_H
#define ASSAY_SESSION_STREAM_RECORD_STREAM_H

#include "session/keep/image_keeper.h"
#include "session/plan.h"
#include "session/sink.h"

struct record_stream;

/* All is kept by the caller. */
struct record_stream_options {
	const struct plan *plan;
	struct perf_source *source;
	struct session_sink *sink;
	const proc_ids *tasks; /* those whose events we opened ourselves */
	enum stack_method method;
	struct foreign *foreign;     /* reads what belongs to other processes; NULL: we do */
	struct image_keeper *keeper; /* whom to tell which addresses were hit; NULL: nobody */
	const struct session_hooks *hooks;
	struct session *session; /* for the hooks */
	double budget;
};

struct record_stream *record_stream_new(const struct record_stream_options *options);
void record_stream_free(struct record_stream *s);

void record_stream_event(struct record_stream *s, const struct event *e);
/* All is set up, and sampling is not switched on yet: as of rate_control_begin(). */
char *record_stream_ready(struct record_stream *s, uint64_t duration_ns);
/* Sampling is on since then: what ticked before does not count. */
void record_stream_begin(struct record_stream *s, uint64_t start_ns);

/* Gives the sink what the rings hold; `last`: up to the newest record, for nothing comes any more.
 */
int record_stream_read(struct record_stream *s, bool last, struct error *err);
/* The last read met stacks deeper than the copies: the sooner the next, the more is still there. */
bool record_stream_deep(const struct record_stream *s);

void record_stream_account(const struct record_stream *s, struct account *account);
void record_stream_status(struct record_stream *s, struct session_status *status);
/* What was most of late begins anew (session_buffers_restart()). */
void record_stream_restart(struct record_stream *s);

#endif
