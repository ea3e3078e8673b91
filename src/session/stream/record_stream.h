/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_stream: passes records from the rings to the sink in time order.
 *
 * Samples get the call chains that are walked live, and the period that they stand for if the rate
 * was changed. Ticks are counted, and hooks receive events of tasks. All other records are passed
 * unchanged. Records of the last moment, before which others may still arrive, stay in the rings
 * until the next read.
 *
 *	record_stream_new()	after the events were opened
 *	record_stream_event()	events of running processes
 *	record_stream_read()	any number of times, and once at the end
 *	record_stream_account(), _status()
 *	record_stream_free()	NULL-safe
 *
 * One thread. Times are ns of CLOCK_MONOTONIC. Uses: base, event, process, profile, source, format.
 */
#ifndef ASSAY_SESSION_STREAM_RECORD_STREAM_H
#define ASSAY_SESSION_STREAM_RECORD_STREAM_H

#include "session/keep/descriptor_keeper.h"
#include "session/keep/fault_keeper.h"
#include "session/keep/image_keeper.h"
#include "session/keep/label_keeper.h"
#include "session/plan.h"
#include "session/sink.h"

struct record_stream;

/* The caller keeps all referenced data. */
struct record_stream_options {
	const struct plan *plan;
	const struct recording *recording; /* fields of its tracepoints; NULL: not needed */
	struct perf_source *source;
	struct session_sink *sink;
	enum stack_method method;
	/* Reads files and memory of other processes; NULL: this process does */
	struct foreign *foreign;
	struct image_keeper *keeper; /* receives the addresses that samples hit; NULL: none */
	/* Names the descriptors on which threads wait; NULL: none */
	struct descriptor_keeper *descriptors;
	struct fault_keeper *faults; /* finds the files of page faults; NULL: none */
	struct label_keeper *labels; /* finds labels of processes; NULL: none */
	const struct session_hooks *hooks;
	struct session *session; /* for the hooks */
	double budget;
};

struct record_stream *record_stream_new(const struct record_stream_options *options);
void record_stream_free(struct record_stream *s);

void record_stream_event(struct record_stream *s, const struct event *e);
/* After the set-up, before sampling is enabled; see rate_control_begin(). */
char *record_stream_ready(struct record_stream *s, uint64_t duration_ns);
/* Sampling started at start_ns: earlier ticks do not count. */
void record_stream_begin(struct record_stream *s, uint64_t start_ns);

/* Passes the contents of the rings to the sink. `last`: sampling is disabled, so all records are
 * passed.
 */
int record_stream_read(struct record_stream *s, bool last, struct error *err);
/*
 * True if the last read found stacks deeper than the copied bytes: the next read should come soon,
 * while the memory of the threads is unchanged.
 */
bool record_stream_deep(const struct record_stream *s);

/* The rate is checked together with the rings: the longest time to the next read, in ms. */
int record_stream_rest_ms(const struct record_stream *s);

void record_stream_account(const struct record_stream *s, struct account *account);
void record_stream_status(struct record_stream *s, struct session_status *status);
/* Resets the recent maximum counters (session_buffers_restart()). */
void record_stream_restart(struct record_stream *s);

#endif
