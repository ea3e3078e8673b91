/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_merge: delivers the function events of all CPUs in time order while they arrive.
 *
 *	graph_merge_new()	once
 *	graph_merge_round()	reads the buffers and delivers the events that are safe
 *	graph_merge_finish()	after tracing: reads and delivers all remaining events
 *	graph_merge_free()	NULL-safe
 *
 * An event is safe if no older one can arrive: it existed at the end of the last round, and this
 * round has read every buffer to its end, or beyond the time of the event. The number of waiting
 * events is limited: a CPU that is ahead of the others is not read until they have caught up. Times
 * are ns; 0 or -errno. One thread. Uses: base, event, source.
 * ns; 0 or -errno. One thread. Uses: base, event, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_GRAPH_MERGE_H
#define ASSAY_LAUNCH_CALLS_GRAPH_MERGE_H

#include "source/tracefs/function_graph.h"

struct graph_merge;

struct graph_merge *graph_merge_new(struct function_graph *source, graph_event_fn *deliver,
                                    void *ctx);
void graph_merge_free(struct graph_merge *m);

/* *busy: there were many events, so the next round should follow at once. */
int graph_merge_round(struct graph_merge *m, bool *busy, struct error *err);
int graph_merge_finish(struct graph_merge *m, struct error *err);

/* The time of the newest event so far, 0: there was none. */
uint64_t graph_merge_newest_ns(const struct graph_merge *m);

#endif
