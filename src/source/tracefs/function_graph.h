/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_graph: the kernel's own tracing of function entries and exits
 * (ftrace), set up for one process and its children, read page by page from
 * each CPU's buffer, and put back as it was.
 *
 *	function_graph_open()	tracer, clock, buffers; nothing is traced yet
 *	function_graph_follow()	whose functions; its children are followed too
 *	function_graph_limit()	only these functions, with all that they call
 *	function_graph_switch()	tracing on or off
 *	function_graph_read()	a page's events of a CPU
 *	function_graph_lost()	what buffers had no room for
 *	function_graph_close()	all as it was before; NULL-safe
 *
 * A tracefs instance of our own ("assay-PID") is used where the kernel lets the
 * tracer run in one, else the top level, unless another tracer is at work there.
 * A guard, a small process of its own, puts everything back if this one dies
 * without function_graph_close(). Times are ns. One thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_H
#define ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_H

#include "base/error.h"
#include "event/graph_event.h"

#include <stddef.h>

struct function_graph;

typedef void graph_event_fn(void *ctx, const struct graph_event *e);

/* buffer_bytes: of each CPU. */
int function_graph_open(struct function_graph **g, size_t buffer_bytes, struct error *err);
void function_graph_close(struct function_graph *g);

int function_graph_follow(struct function_graph *g, int32_t pid, struct error *err);
/* Globs, as set_graph_function takes them. */
int function_graph_limit(struct function_graph *g, const char *const *functions, size_t count,
                         struct error *err);
int function_graph_switch(struct function_graph *g, bool on, struct error *err);

size_t function_graph_cpus(const struct function_graph *g);

/* Number of events of the next page, 0: the buffer is empty. Never waits. */
int function_graph_read(struct function_graph *g, size_t cpu, graph_event_fn *deliver, void *ctx,
                        struct error *err);

/* Of all CPUs, since function_graph_follow(). */
uint64_t function_graph_lost(const struct function_graph *g);

/* It runs in the kernel's one top-level tracer: a filter set there by others holds for us too. */
bool function_graph_filtered(const struct function_graph *g);

#endif
