/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_paths: builds call paths from the kernel's function events: one tree for each process, and
 * one for the interrupts of each CPU.
 *
 * graph_paths_new(); graph_paths_root() for the process that is followed; graph_paths_event() with
 * events of all CPUs in time order; graph_paths_end() once; graph_paths_free(). The caller then
 * closes the model.
 *
 * The time between two events of a task is net time of the innermost open function if the task ran,
 * and blocked or preempted time if it did not. The time of an interrupt is net in the CPU's own
 * tree, and preempted in the interrupted function, so that a thread's net, own, blocked and
 * preempted times add up to its wall time. Functions of an interrupt are recognised by the kernel's
 * flag, or by `entry` for functions that are called before the flag is set.
 *
 * The tracer's own cost, as measured by the caller, is subtracted: `inner_ns` from each call and
 * `outer_ns` from its caller; results are never clamped.
 *
 * If records are lost, open calls of the affected tasks are closed without an exit (resyncs), and
 * later calls are added to (other) until the task enters the kernel again. Events of other tasks
 * are counted and skipped. One thread. Uses: base, event, image, process.
 */
#ifndef ASSAY_PROFILE_CALLS_GRAPH_PATHS_H
#define ASSAY_PROFILE_CALLS_GRAPH_PATHS_H

#include "event/graph_event.h"
#include "profile/calls/call_paths.h"

enum graph_entry {
	GRAPH_CALLED,    /* a normal call */
	GRAPH_INTERRUPT, /* begins or ends an interrupt */
	GRAPH_PREEMPT,   /* called after the end of an interrupt; no function calls it */
};

struct graph_paths_options {
	/* Sets the frame and name of the function at an address. Called once for each address. */
	void (*describe)(void *ctx, struct call_paths *c, uint64_t address,
	                 struct call_function *f);
	/* The special role of a function, if any; NULL: all functions are normal calls. */
	enum graph_entry (*entry)(void *ctx, uint64_t address);
	void *ctx;
	double inner_ns, outer_ns; /* cost of tracing a call */
	double inner_error_ns, outer_error_ns;
	uint32_t flags;    /* enum call_flag: added to CALL_KERNEL */
	uint64_t start_ns; /* approximate CLOCK_REALTIME of the first event */
};

struct graph_paths_count {
	uint64_t events, calls, foreign, lost, gaps;
};

struct graph_paths;

struct graph_paths *graph_paths_new(struct call_paths *into,
                                    const struct graph_paths_options *options);
void graph_paths_free(struct graph_paths *g);

/* Follows a process from now on; returns the index of its process in the model. */
uint32_t graph_paths_root(struct graph_paths *g, int32_t pid, const char *name);

void graph_paths_event(struct graph_paths *g, const struct graph_event *e);

/* Ends the input: open calls, tails and own cost are added to the model. */
void graph_paths_end(struct graph_paths *g, uint64_t time_ns);

struct graph_paths_count graph_paths_count(const struct graph_paths *g);

#endif
