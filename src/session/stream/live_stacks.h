/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_stacks: the users' stacks of samples, walked while recording.
 *
 * Samples come from the kernel with registers and a copy of the stack, and go on with plain
 * call chains. For that this follows who maps what, at the time of each sample: whatever
 * tells of it comes here first, in time order.
 *
 *	live_stacks_new()	the events are open
 *	live_stacks_event()	who runs, forks, maps, ends
 *	live_stacks_walk()	for each sample, after all events before it
 *	live_stacks_account()	at the end
 *	live_stacks_free()	NULL-safe
 *
 * One thread. Memory is bounded by the processes and threads that live and by
 * PROCESS_TABLE_BYTES for their names and mappings: what is dead is forgotten now and then. Uses:
 *base, event, process, profile, format.
 */
#ifndef ASSAY_SESSION_STREAM_LIVE_STACKS_H
#define ASSAY_SESSION_STREAM_LIVE_STACKS_H

#include "base/memory/buf.h"
#include "event/recording.h"
#include "profile/stack/stack_walk.h"

#include <linux/perf_event.h>

struct live_stacks;

struct live_stacks *live_stacks_new(enum stack_method method, struct foreign *foreign);
void live_stacks_free(struct live_stacks *l);

void live_stacks_event(struct live_stacks *l, const struct event *e);
/* Forgets the dead; done where more than a bound of them have gathered. */
void live_stacks_renew(struct live_stacks *l);

#define LIVE_STACKS_LATER 1

/*
 * Puts the whole chain into the sample, good until the next walk. The outermost parts of deep
 * stacks that it refers to are defined by records added to `out`, as `attr` and `id` ask.
 * LIVE_STACKS_LATER: live_stacks_open() is to be called, which may take long, and then this again.
 */
int live_stacks_walk(struct live_stacks *l, struct event *e, const struct perf_event_attr *attr,
                     uint64_t id, struct buf *out, struct error *err);
void live_stacks_open(struct live_stacks *l);
/* Times that the walker looked into threads' memory: stacks were deeper than the copies. */
uint64_t live_stacks_memory_reads(const struct live_stacks *l);

/* Leaves cpu_ns to whoever measures it. */
void live_stacks_account(const struct live_stacks *l, struct account *account);

#endif
