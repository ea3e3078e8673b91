/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/kernel_calls.h"

#include "base/memory/buf.h"
#include "base/clock.h"
#include "profile/calls/graph_paths.h"
#include "launch/command_child.h"
#include "launch/calls/graph_cost.h"
#include "launch/calls/graph_merge.h"
#include "launch/calls/kernel_functions.h"
#include "launch/privileges.h"
#include "source/perf/perf_ring_size.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define BUFFER_BYTES (8u << 20)
#define BUFFER_MIN_BYTES (512u << 10)
#define MEMORY_SHARE 32 /* of the memory, all CPUs together */
#define ROUND_MS 5
#define AGAIN_NS UINT64_C(1000000000) /* timeout(1) and others send a signal twice, at once */

struct kernel_calls_run {
	const struct kernel_calls_options *options;
	char *const *command;
	struct call_paths *into;
	struct kernel_calls_result *result;
	struct function_graph *source;
	struct graph_merge *merge;
	struct graph_paths *paths;
	struct kernel_functions functions;
	struct graph_cost cost;
	struct command_child child;
	const sigset_t *mask; /* the command's */
	int signals;
	uint64_t asked_ns;
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

static void begin_paths(struct kernel_calls_run *r)
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
	struct buf text = {0};
	const char *name = strrchr(r->command[0], '/');

	if (r->options->count || function_graph_filtered(r->source))
		o.flags |= CALL_FILTERED;
	r->paths = graph_paths_new(r->into, &o);
	r->root = graph_paths_root(r->paths, r->child.pid, name ? name + 1 : r->command[0]);
	for (size_t i = 0; r->command[i]; i++)
		buf_addf(&text, "%s%s", i ? " " : "", r->command[i]);
	p = &r->into->processes.items[r->root];
	p->command = intern_add(&r->into->images.names, buf_text(&text));
	p->parent = getpid();
	buf_done(&text);
	r->merge = graph_merge_new(r->source, deliver, r->paths);
}

/* The tracer, its cost, and the command, held back, as the one that is followed. */
static int set_up(struct kernel_calls_run *r, struct error *err)
{
	double native_ns = graph_cost_native();
	int status = function_graph_open(&r->source, buffer_bytes(r->options), err);

	if (!status)
		status = graph_cost_measure(&r->cost, r->source, native_ns, err);
	if (!status)
		status = command_child_fork(&r->child, (char **)r->command, r->mask, err);
	if (!status)
		status = function_graph_follow(r->source, r->child.pid, err);
	if (!status && r->options->count)
		status = function_graph_limit(r->source, r->options->functions, r->options->count,
		                              err);
	if (status)
		return status;
	kernel_functions_init(&r->functions);
	begin_paths(r);
	return function_graph_switch(r->source, true, err);
}

static void take_signal(struct kernel_calls_run *r, const struct signalfd_siginfo *info)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	/* The terminal's go to all of its foreground, the command too. */
	if (info->ssi_signo == SIGCHLD || info->ssi_code == SI_KERNEL)
		return;
	if (r->asked_ns && now - r->asked_ns >= AGAIN_NS) {
		r->result->signal = (int)info->ssi_signo;
		return;
	}
	if (!r->asked_ns)
		r->asked_ns = now;
	kill(r->child.pid, (int)info->ssi_signo);
}

static int follow(struct kernel_calls_run *r, struct error *err)
{
	struct pollfd ready = {.fd = r->signals, .events = POLLIN};
	struct signalfd_siginfo info;
	bool busy = false;
	int status;

	while (!command_child_ended(&r->child) && !r->result->signal) {
		status = graph_merge_round(r->merge, &busy, err);
		if (status)
			return status;
		if (poll(&ready, 1, busy ? 0 : ROUND_MS) > 0 &&
		    read(r->signals, &info, sizeof(info)) == sizeof(info))
			take_signal(r, &info);
	}
	return 0;
}

/* What pages do not tell of losses the buffers' own counts do. */
static void count_lost(struct kernel_calls_run *r)
{
	struct graph_paths_count count = graph_paths_count(r->paths);
	struct call_process *p = &r->into->processes.items[r->root];
	uint64_t lost = function_graph_lost(r->source);

	r->result->events = count.events;
	r->result->lost = lost > count.lost ? lost : count.lost;
	if (r->result->lost > count.lost) {
		p->lost_events += r->result->lost - count.lost;
		p->flags |= CALL_LOST;
	}
}

static int run(struct kernel_calls_run *r, struct error *err)
{
	int status = set_up(r, err);

	if (status)
		return status;
	status = command_child_start(&r->child, r->command[0], err);
	r->result->command_failed = status != 0;
	privileges_hurry();
	if (!status)
		status = follow(r, err);
	if (!status)
		status = function_graph_switch(r->source, false, err);
	if (!status)
		status = graph_merge_finish(r->merge, err);
	if (status)
		return status;
	graph_paths_end(r->paths, graph_merge_newest_ns(r->merge));
	count_lost(r);
	r->result->cost_known = r->cost.known;
	r->result->exit_status = r->child.ended ? r->child.status : -1;
	return 0;
}

static void clean_up(struct kernel_calls_run *r, bool failed)
{
	if (failed)
		command_child_end(&r->child);
	graph_merge_free(r->merge);
	graph_paths_free(r->paths);
	function_graph_close(r->source);
	kernel_functions_done(&r->functions);
}

int kernel_calls_run(struct call_paths *into, const struct kernel_calls_options *options,
                     char *const command[], struct kernel_calls_result *result, struct error *err)
{
	struct kernel_calls_run r = {
	        .options = options, .command = command, .into = into, .result = result};
	sigset_t before;
	int status;

	*result = (struct kernel_calls_result){.exit_status = -1};
	r.signals = command_signals_hold(&before, err);
	r.mask = &before;
	status = r.signals < 0 ? r.signals : run(&r, err);
	clean_up(&r, status != 0);
	command_signals_release(r.signals, &before);
	return status;
}
