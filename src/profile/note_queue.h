/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * note_queue: takes notes in batches to whoever counts them, in their order.
 *
 * Of a short recording all happens in the caller's thread. After START_BATCHES
 * a thread of its own counts, if there is a second CPU to run it; the caller
 * waits when it is BATCHES ahead. Whatever is counted is the same either way.
 *
 *	note_queue_new(take, ctx, alone)
 *	*note_queue_add(q) = (struct note){...}     for each
 *	note_queue_finish(q)                        all are counted now
 *	note_queue_free(q)                          NULL-safe
 *
 * _add, _finish and _free from one thread. `take` is called from one thread at
 * a time; what it writes may be read after _finish. Uses: base, profile.
 */
#ifndef ASSAY_PROFILE_NOTE_QUEUE_H
#define ASSAY_PROFILE_NOTE_QUEUE_H

#include "profile/note.h"

#include <stddef.h>

#define NOTE_BATCH 2048

typedef void note_take_fn(void *ctx, const struct note *notes, size_t count);

struct note_queue;

/* `alone`: never in a thread of its own; then _finish may be called again and again. */
struct note_queue *note_queue_new(note_take_fn *take, void *ctx, bool alone);
void note_queue_free(struct note_queue *q);

/* Room for the next note, good until the next call. */
struct note *note_queue_add(struct note_queue *q);
void note_queue_finish(struct note_queue *q);

#endif
