/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_unwind: walks the user stacks of samples while recording.
 *
 * Samples come from the kernel with registers and a copy of the stack, and leave with plain call
 * chains. This needs the mappings of each process at the time of each sample, so all events about
 * processes are passed to it first, in time order.
 *
 *	record_unwind_new()	after the events were opened
 *	record_unwind_event()	each fork, exec, mapping and exit
 *	record_unwind_walk()	for each sample, after all events before it
 *	record_unwind_account()	at the end
 *	record_unwind_free()	NULL-safe
 *
 * One thread. Memory is bounded by the living processes and threads, and by PROCESS_TABLE_BYTES
 * for their names and mappings; exited processes are removed from time to time. Uses: base, event,
 * process, profile, format.
 */
#ifndef ASSAY_SESSION_STREAM_RECORD_UNWIND_H
#define ASSAY_SESSION_STREAM_RECORD_UNWIND_H

#include "base/memory/buf.h"
#include "event/recording.h"
#include "profile/stack/stack_walk.h"

#include <linux/perf_event.h>

struct record_unwind;

/* `events`: also gets the events that the walks define; NULL: none. */
struct record_unwind *record_unwind_new(enum stack_method method, struct foreign *foreign,
                                        const struct event_sink *events);
void record_unwind_free(struct record_unwind *l);

void record_unwind_event(struct record_unwind *l, const struct event *e);
/* Removes exited processes, if there are more than a limit. */
void record_unwind_renew(struct record_unwind *l);

#define LIVE_STACKS_LATER 1

/*
 * Writes the complete chain to the sample, valid until the next walk. Definitions of the outer
 * stacks that it refers to are appended to `out`, in the form given by `attr` and `id`.
 * LIVE_STACKS_LATER: call record_unwind_open(), which may take long, and then this function again.
 */
int record_unwind_walk(struct record_unwind *l, struct event *e, const struct perf_event_attr *attr,
                       uint64_t id, struct buf *out, struct error *err);
void record_unwind_open(struct record_unwind *l);
/* Number of reads of threads' memory, for stacks deeper than the copies. */
uint64_t record_unwind_memory_reads(const struct record_unwind *l);

/* Does not set cpu_ns, which the caller measures. */
void record_unwind_account(const struct record_unwind *l, struct account *account);

#endif
