/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/kernel_calls.h"

#include "base/clock.h"
#include "base/text/base_name.h"
#include "profile/calls/graph_paths.h"
#include "launch/calls/graph_cost.h"
#include "launch/calls/graph_merge.h"
#include "launch/calls/kernel_functions.h"
#include "base/process/privileges.h"
#include "launch/source.h"
#include "source/perf/perf_ring_size.h"

#include <unistd.h>

#define BUFFER_BYTES (8u << 20)
#define BUFFER_MIN_BYTES (512u << 10)
#define MEMORY_SHARE 32 /* part of the memory, for all CPUs together */
#define ROUND_MS 5

struct kernel_calls_run {
	struct source source;
	const struct kernel_calls_options *options;
	char *const *command;
	struct call_paths *into;
	struct kernel_calls_result *result;
	struct function_graph *graph;
	struct graph_merge *merge;
	struct graph_paths *paths;
	struct kernel_functions functions;
	struct graph_cost cost;
	uint32_t root; /* the command's process in the model */
};

static size_t buffer_bytes(const struct kernel_calls_options *o)
{
	uint64_t bytes = perf_ring_size_machine() / MEMORY_SHARE;

	if (o->buffer_bytes)
		return o->buffer_bytes;
	bytes /= (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	if (bytes < BUFFER_MIN_BYTES)
		return BUFFER_MIN_BYTES;
	return bytes < BUFFER_BYTES ? (size_t)bytes : BUFFER_BYTES;
}

static void deliver(void *ctx, const struct graph_event *e)
{
	graph_paths_event(ctx, e);
}

static void begin_paths(struct kernel_calls_run *r, pid_t pid)
{
	struct graph_paths_options o = {
	        .describe = kernel_functions_describe,
	        .entry = kernel_functions_entry,
	        .ctx = &r->functions,
	        .inner_ns = r->cost.inner_ns,
	        .outer_ns = r->cost.outer_ns,
	        .inner_error_ns = r->cost.inner_error_ns,
	        .outer_error_ns = r->cost.outer_error_ns,
	        .start_ns = clock_ns(CLOCK_REALTIME),
	};
	struct call_process *p;
	char *text = command_run_text(r->command);

	if (r->options->count || function_graph_filtered(r->graph))
		o.flags |= CALL_FILTERED;
	r->paths = graph_paths_new(r->into, &o);
	r->root = graph_paths_root(r->paths, pid, base_name(r->command[0]));
	p = &r->into->processes.items[r->root];
	p->command = intern_add(&r->into->images.names, text);
	p->parent = getpid();
	free(text);
	r->merge = graph_merge_new(r->graph, deliver, r->paths);
}

static struct kernel_calls_run *run_of(struct source *s)
{
	return (struct kernel_calls_run *)s;
}

/* The functions that write records of switches, wake-ups and processes for perf_event. */
static int exclude_recorder(struct kernel_calls_run *r, struct error *err)
{
	static const char *const functions[] = {
	        "__traceiter_*",   "perf_trace_*",         "__perf_event_task_sched_*",
	        "perf_event_fork", "perf_swevent_hrtimer", "perf_event_mmap",
	        "perf_event_comm", "perf_event_exec",
	};

	if (!r->options->is_recorded)
		return 0;
	return function_graph_exclude(r->graph, functions, sizeof(functions) / sizeof(*functions),
	                              err);
}

/* The tracer, its cost, and the command as the process that is followed. */
static int begin(struct source *s, pid_t pid, struct error *err)
{
	struct kernel_calls_run *r = run_of(s);
	double native_ns = graph_cost_native();
	int status = function_graph_open(&r->graph, buffer_bytes(r->options), err);

	if (!status)
		status = graph_cost_measure(&r->cost, r->graph, native_ns, err);
	if (!status)
		status = function_graph_follow(r->graph, pid, err);
	if (!status)
		status = exclude_recorder(r, err);
	if (!status && r->options->count)
		status = function_graph_limit(r->graph, r->options->functions, r->options->count,
		                              err);
	if (status)
		return status;
	kernel_functions_init(&r->functions);
	begin_paths(r, pid);
	status = function_graph_switch(r->graph, true, err);
	if (!status)
		privileges_hurry();
	return status;
}

static int drain(struct source *s, int *wait_ms, struct error *err)
{
	bool busy;
	int status = graph_merge_round(run_of(s)->merge, &busy, err);

	*wait_ms = busy ? 0 : ROUND_MS;
	return status;
}

/* Losses that the pages do not report are in the counts of the buffers. */
static void count_lost(struct kernel_calls_run *r)
{
	struct graph_paths_count count = graph_paths_count(r->paths);
	struct call_process *p = &r->into->processes.items[r->root];
	uint64_t lost = function_graph_lost(r->graph);

	r->result->events = count.events;
	r->result->lost = lost > count.lost ? lost : count.lost;
	if (r->result->lost > count.lost) {
		p->lost_events += r->result->lost - count.lost;
		p->flags |= CALL_LOST;
	}
}

static int end(struct source *s, struct error *err)
{
	struct kernel_calls_run *r = run_of(s);
	int status = function_graph_switch(r->graph, false, err);

	if (!status)
		status = graph_merge_finish(r->merge, err);
	if (status)
		return status;
	graph_paths_end(r->paths, graph_merge_newest_ns(r->merge));
	count_lost(r);
	r->result->cost_known = r->cost.known;
	return 0;
}

int kernel_calls_run(struct call_paths *into, const struct kernel_calls_options *options,
                     char *const command[], struct kernel_calls_result *result, struct error *err)
{
	static const struct source_ops ops = {.begin = begin, .drain = drain, .end = end};
	struct kernel_calls_run r = {.source.ops = &ops,
	                             .options = options,
	                             .command = command,
	                             .into = into,
	                             .result = result};
	int status;

	*result = (struct kernel_calls_result){0};
	status = command_run((char **)command, &r.source, &result->run, err);
	graph_merge_free(r.merge);
	graph_paths_free(r.paths);
	function_graph_close(r.graph);
	kernel_functions_done(&r.functions);
	return status;
}
