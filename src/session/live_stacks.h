/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_stacks: from the rings to the file, with the users' stacks walked on
 * the way.
 *
 * Samples come from the kernel with registers and a copy of the stack, and go
 * into the file with plain call chains. For that it follows who maps what, at
 * the time of each sample: records of all CPUs are taken in time order, and
 * those of the last moment, which others may still precede, stay in the rings
 * for the next time. All other records go on as the kernel made them.
 *
 *	live_stacks_new()	the events are open
 *	live_stacks_event()	what ran before
 *	live_stacks_read()	as often as wanted; once more at the end
 *	live_stacks_account()	at the end
 *	live_stacks_free()	NULL-safe
 *
 * One thread. Memory is bounded by the files, processes and threads that were
 * seen. Uses: base, event, process, profile, source, format.
 */
#ifndef ASSAY_SESSION_LIVE_STACKS_H
#define ASSAY_SESSION_LIVE_STACKS_H

#include "format/perf_data.h"
#include "session/keeper.h"
#include "session/plan.h"

struct live_stacks;

/* All but `method` are kept by the caller. `tasks`: those whose events we opened ourselves. */
struct live_stacks *live_stacks_new(const struct plan *plan, struct perf_source *source,
                                    struct perf_data_writer *writer, const proc_ids *tasks,
                                    enum stack_method method);
void live_stacks_free(struct live_stacks *l);
/* Whom to tell which addresses were hit; good as long as this is. */
void live_stacks_keeper(struct live_stacks *l, struct keeper *keeper);

void live_stacks_event(struct live_stacks *l, const struct event *e);

/* Writes what the rings hold; `last`: up to the newest record, for nothing comes any more. */
int live_stacks_read(struct live_stacks *l, bool last, struct error *err);
/* The last read met stacks deeper than the copies: the sooner the next, the more is still there. */
bool live_stacks_deep(const struct live_stacks *l);

void live_stacks_account(const struct live_stacks *l, struct account *account);

#endif
