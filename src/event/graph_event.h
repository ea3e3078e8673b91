/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_event: one thing that the kernel's function tracing tells: a function
 * entered or left, a switch between tasks, a task that begins, a program that
 * is run, records that were lost.
 *
 * Made by a source, read by the builder of call paths; plain, no ownership.
 * Times are nanoseconds of the trace's own clock, the same on all CPUs. A task
 * is a thread's id. Uses: nothing.
 */
#ifndef ASSAY_EVENT_GRAPH_EVENT_H
#define ASSAY_EVENT_GRAPH_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum graph_event_kind {
	GRAPH_ENTRY,  /* function, depth, interrupt */
	GRAPH_EXIT,   /* function, depth */
	GRAPH_SWITCH, /* task leaves the CPU, `other` gets it; name is the task's */
	GRAPH_NEW,    /* task made `other`; thread */
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
	bool preempted; /* switch: it would have gone on */
	bool dead;      /* switch: it will never come back */
	bool thread;    /* new: of the same process */
	union {
		uint64_t function; /* address of its first bytes */
		uint64_t lost;
		char name[16];
	};
};

#endif
