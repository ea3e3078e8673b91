/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_graph: the kernel's tracing of function entries and exits (ftrace). It is set up for one
 * process and its children, read page by page from the buffer of each CPU, and restored.
 *
 *	function_graph_open()	sets tracer, clock and buffers; nothing is traced yet
 *	function_graph_follow()	selects a process; its children are followed too
 *	function_graph_limit()	selects functions; their callees are traced too
 *	function_graph_exclude()	excludes functions and their callees
 *	function_graph_switch()	enables or disables tracing
 *	function_graph_read()	returns the events of one page of a CPU
 *	function_graph_lost()	the number of events that were lost because buffers were full
 *	function_graph_close()	restores all settings; NULL-safe
 *
 * An own instance of tracefs ("assay-PID") is used if the kernel supports the tracer in instances;
 * otherwise the top level, unless another tracer is active there. If this process ends without
 * function_graph_close(), a guard (a small child process) restores the settings. Times are ns. One
 * thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_H
#define ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_H

#include "base/error.h"
#include "event/graph_event.h"

#include <stddef.h>

struct function_graph;

typedef void graph_event_fn(void *ctx, const struct graph_event *e);

/* buffer_bytes: for each CPU. */
int function_graph_open(struct function_graph **g, size_t buffer_bytes, struct error *err);
void function_graph_close(struct function_graph *g);

int function_graph_follow(struct function_graph *g, int32_t pid, struct error *err);
/* Patterns in the syntax of set_graph_function. */
int function_graph_limit(struct function_graph *g, const char *const *functions, size_t count,
                         struct error *err);
/* Likewise. A name that the kernel does not have is no error. */
int function_graph_exclude(struct function_graph *g, const char *const *functions, size_t count,
                           struct error *err);
int function_graph_switch(struct function_graph *g, bool on, struct error *err);

size_t function_graph_cpus(const struct function_graph *g);

/* Returns the number of events of the next page, 0 if the buffer is empty. Never waits. */
int function_graph_read(struct function_graph *g, size_t cpu, graph_event_fn *deliver, void *ctx,
                        struct error *err);

/* The sum over all CPUs since function_graph_follow(). */
uint64_t function_graph_lost(const struct function_graph *g);

/*
 * True if the kernel's top-level tracer is used: a filter that another program set there also
 * limits this trace.
 */
bool function_graph_filtered(const struct function_graph *g);

#endif
