/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_event: one event of the kernel's function tracing: a function entry or exit, a switch
 * between tasks, a new task, an exec, or lost records.
 *
 * Sources create these events, and the builder of call paths reads them. A plain record without
 * ownership. Times are nanoseconds of the trace's clock, which is the same on all CPUs. A task is a
 * thread's id. Uses: nothing.
 */
#ifndef ASSAY_EVENT_GRAPH_EVENT_H
#define ASSAY_EVENT_GRAPH_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum graph_event_kind {
	GRAPH_ENTRY,  /* function, depth, interrupt */
	GRAPH_EXIT,   /* function, depth */
	GRAPH_SWITCH, /* task leaves the CPU, `other` runs next; name is the task's */
	GRAPH_NEW,    /* task created `other`; thread */
	GRAPH_EXEC,   /* task runs another program: name */
	GRAPH_LOST, /* `lost` records of this CPU are missing before this time; 0: unknown number */
};

struct graph_event {
	enum graph_event_kind kind;
	uint32_t cpu;
	uint64_t time_ns;
	int32_t task;
	int32_t other;
	int32_t depth;
	bool interrupt; /* the CPU was serving an interrupt or NMI when the function was entered */
	bool preempted; /* switch: the task was still runnable */
	bool dead;      /* switch: the task has ended */
	bool thread;    /* new: a thread of the same process */
	union {
		uint64_t function; /* address of its first bytes */
		uint64_t lost;
		char name[16];
	};
};

#endif
