/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counter_queue: passes updates in batches to the counter, in their order.
 *
 * Of a short recording all happens in the caller's thread. After START_BATCHES
 * a thread of its own counts, if there is a second CPU to run it; the caller
 * waits when it is BATCHES ahead. Whatever is counted is the same either way.
 *
 *	counter_queue_new(take, ctx, alone)
 *	*counter_queue_add(q) = (struct counter_update){...}     for each
 *	counter_queue_finish(q)                        all are counted now
 *	counter_queue_free(q)                          NULL-safe
 *
 * _add, _finish and _free from one thread. `take` is called from one thread at
 * a time; what it writes may be read after _finish. Uses: base, profile.
 */
#ifndef ASSAY_PROFILE_COUNTER_QUEUE_H
#define ASSAY_PROFILE_COUNTER_QUEUE_H

#include "profile/counter_update.h"

#include <stddef.h>

#define UPDATE_BATCH 2048

typedef void counter_update_fn(void *ctx, const struct counter_update *notes, size_t count);

struct counter_queue;

/* `alone`: never in a thread of its own; then _finish may be called again and again. */
struct counter_queue *counter_queue_new(counter_update_fn *take, void *ctx, bool alone);
void counter_queue_free(struct counter_queue *q);

/* Room for the next note, good until the next call. */
struct counter_update *counter_queue_add(struct counter_queue *q);
void counter_queue_finish(struct counter_queue *q);

#endif
