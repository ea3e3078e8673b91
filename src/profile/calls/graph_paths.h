/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_paths: the builder that turns the kernel's function events into call
 * paths: one tree a process, one more for the interrupts of each CPU.
 *
 * graph_paths_new(); graph_paths_root() for the process that is followed;
 * graph_paths_event() with events of all CPUs in the order of time;
 * graph_paths_end() once; graph_paths_free(). The model is then the caller's to
 * close.
 *
 * What a call's time is made of: between two events of a task that ran, the
 * time is net of the innermost open function; of a task that did not, blocked
 * or preempted. What an interrupt takes is net in the CPU's own tree, and
 * preempted in the function that it held up, so that a thread's net, own,
 * blocked and preempted time add up to its wall time. Functions of an interrupt
 * are told by the kernel's flag, and by `entry` for those before the flag is
 * set.
 *
 * The tracer's own cost, as far as the caller has measured it, is taken off:
 * `inner_ns` from each call, `outer_ns` from its caller; never clamped.
 *
 * When records are lost, open calls of the tasks concerned are closed without
 * their end (resyncs), and what follows goes to (other) until the task next
 * enters the kernel. Events of tasks that are not followed are counted and left
 * out. One thread. Uses: base, event, image, process.
 */
#ifndef ASSAY_PROFILE_CALLS_GRAPH_PATHS_H
#define ASSAY_PROFILE_CALLS_GRAPH_PATHS_H

#include "event/graph_event.h"
#include "profile/calls/call_paths.h"

enum graph_entry {
	GRAPH_CALLED,    /* a call as others */
	GRAPH_INTERRUPT, /* the kernel begins or ends an interrupt by it */
	GRAPH_PREEMPT,   /* called when an interrupt has ended: on behalf of no function */
};

struct graph_paths_options {
	/* Names the function at an address: frame and name. Asked once for each address. */
	void (*describe)(void *ctx, struct call_paths *c, uint64_t address,
	                 struct call_function *f);
	/* What the entry of a function means besides; NULL: nothing. */
	enum graph_entry (*entry)(void *ctx, uint64_t address);
	void *ctx;
	double inner_ns, outer_ns; /* the tracer's cost of a call */
	double inner_error_ns, outer_error_ns;
	uint32_t flags;    /* enum call_flag: added to CALL_KERNEL */
	uint64_t start_ns; /* CLOCK_REALTIME of the first event, about */
};

struct graph_paths_count {
	uint64_t events, calls, foreign, lost, gaps;
};

struct graph_paths;

struct graph_paths *graph_paths_new(struct call_paths *into,
                                    const struct graph_paths_options *options);
void graph_paths_free(struct graph_paths *g);

/* A process that is followed from now on; the index of its process in the model. */
uint32_t graph_paths_root(struct graph_paths *g, int32_t pid, const char *name);

void graph_paths_event(struct graph_paths *g, const struct graph_event *e);

/* Nothing more comes: open calls, tails and own cost are put into the model. */
void graph_paths_end(struct graph_paths *g, uint64_t time_ns);

struct graph_paths_count graph_paths_count(const struct graph_paths *g);

#endif
