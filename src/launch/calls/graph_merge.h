/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_merge: the function events of all CPUs in time order, as they come.
 *
 *	graph_merge_new()	once
 *	graph_merge_round()	reads what the buffers hold and delivers what is safe
 *	graph_merge_finish()	tracing is off: reads and delivers all that is left
 *	graph_merge_free()	NULL-safe
 *
 * An event is safe when no older one can come any more: it was there when the
 * last round ended, and this round has read every buffer to its end, or beyond
 * the event's time. What waits for that is bounded: a CPU that is ahead of the
 * others is not read further until they have caught up. Times are
 * ns; 0 or -errno. One thread. Uses: base, event, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_GRAPH_MERGE_H
#define ASSAY_LAUNCH_CALLS_GRAPH_MERGE_H

#include "source/tracefs/function_graph.h"

struct graph_merge;

struct graph_merge *graph_merge_new(struct function_graph *source, graph_event_fn *deliver,
                                    void *ctx);
void graph_merge_free(struct graph_merge *m);

/* *busy: so much was there that the next round should follow at once. */
int graph_merge_round(struct graph_merge *m, bool *busy, struct error *err);
int graph_merge_finish(struct graph_merge *m, struct error *err);

/* The time of the newest event so far, 0: there was none. */
uint64_t graph_merge_newest_ns(const struct graph_merge *m);

#endif
