/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_unwind: the users' stacks of samples, walked while recording.
 *
 * Samples come from the kernel with registers and a copy of the stack, and go on with plain
 * call chains. For that this follows who maps what, at the time of each sample: whatever
 * tells of it comes here first, in time order.
 *
 *	record_unwind_new()	the events are open
 *	record_unwind_event()	who runs, forks, maps, ends
 *	record_unwind_walk()	for each sample, after all events before it
 *	record_unwind_account()	at the end
 *	record_unwind_free()	NULL-safe
 *
 * One thread. Memory is bounded by the processes and threads that live and by
 * PROCESS_TABLE_BYTES for their names and mappings: what is dead is forgotten now and then. Uses:
 *base, event, process, profile, format.
 */
#ifndef ASSAY_SESSION_STREAM_RECORD_UNWIND_H
#define ASSAY_SESSION_STREAM_RECORD_UNWIND_H

#include "base/memory/buf.h"
#include "event/recording.h"
#include "profile/stack/stack_walk.h"

#include <linux/perf_event.h>

struct record_unwind;

struct record_unwind *record_unwind_new(enum stack_method method, struct foreign *foreign);
void record_unwind_free(struct record_unwind *l);

void record_unwind_event(struct record_unwind *l, const struct event *e);
/* Forgets the dead; done where more than a bound of them have gathered. */
void record_unwind_renew(struct record_unwind *l);

#define LIVE_STACKS_LATER 1

/*
 * Puts the whole chain into the sample, good until the next walk. The outermost parts of deep
 * stacks that it refers to are defined by records added to `out`, as `attr` and `id` ask.
 * LIVE_STACKS_LATER: record_unwind_open() is to be called, which may take long, and then this
 * again.
 */
int record_unwind_walk(struct record_unwind *l, struct event *e, const struct perf_event_attr *attr,
                       uint64_t id, struct buf *out, struct error *err);
void record_unwind_open(struct record_unwind *l);
/* Times that the walker looked into threads' memory: stacks were deeper than the copies. */
uint64_t record_unwind_memory_reads(const struct record_unwind *l);

/* Leaves cpu_ns to whoever measures it. */
void record_unwind_account(const struct record_unwind *l, struct account *account);

#endif
