/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counter_queue: passes updates in batches to the counter, in order.
 *
 * The caller's thread counts the first START_BATCHES batches, which is all of a short recording.
 * After that a second thread counts, if there is a second CPU; the caller waits if it is BATCHES
 * ahead. The result is the same in both cases.
 *
 *	counter_queue_new(take, ctx, alone)
 *	*counter_queue_add(q) = (struct counter_update){...}     for each
 *	counter_queue_finish(q)                        waits until all are counted
 *	counter_queue_free(q)                          NULL-safe
 *
 * One thread calls _add, _finish and _free. Only one thread at a time calls `take`; its results may
 * be read after _finish. Uses: base, profile.
 */
#ifndef ASSAY_PROFILE_COUNTER_QUEUE_H
#define ASSAY_PROFILE_COUNTER_QUEUE_H

#include "base/piece.h"
#include "profile/counter_update.h"

#include <stddef.h>

#define UPDATE_BATCH PIECE_OF(2048)

typedef void counter_update_fn(void *ctx, const struct counter_update *notes, size_t count);

struct counter_queue;

/* `alone`: never starts a thread; then _finish may be called several times. */
struct counter_queue *counter_queue_new(counter_update_fn *take, void *ctx, bool alone);
void counter_queue_free(struct counter_queue *q);

/* Space for the next update, valid until the next call. */
struct counter_update *counter_queue_add(struct counter_queue *q);
void counter_queue_finish(struct counter_queue *q);

#endif
