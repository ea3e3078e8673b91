/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_paths_internal: what the files of graph_paths share.
 *
 * graph_paths.c takes the events and keeps each task's open calls;
 * graph_paths_tasks.c has the tasks, their processes and threads in the model,
 * and the functions; graph_paths_time.c the time between events and the end.
 * All of it lives from graph_paths_new() to graph_paths_free(). Times are ns of
 * the tracer's clock. Nothing fails. Pointers to tasks, processes and threads
 * hold until the next one is made. One thread. Uses: base, event, process.
 */
#ifndef ASSAY_PROFILE_CALLS_GRAPH_PATHS_INTERNAL_H
#define ASSAY_PROFILE_CALLS_GRAPH_PATHS_INTERNAL_H

#include "process/pid_map.h"
#include "profile/calls/graph_paths.h"

#define NO_INTERRUPT SIZE_MAX
#define NO_PROCESS UINT32_MAX

enum task_state {
	TASK_UNSEEN, /* made, or ours from the begin: no event of it yet */
	TASK_RUNNING,
	TASK_BLOCKED,
	TASK_PREEMPTED,
	TASK_ENDED,
};

/* An open call. Those of an interrupt stand above those that it held up. */
struct open_call {
	uint32_t process, path; /* process: the task's, or that of the CPU's interrupts */
	uint64_t function;
	int32_t depth;
	double net_ns; /* of this call, so far */
};

struct graph_task {
	int32_t tid;
	uint32_t process, thread; /* of the model */
	uint32_t cpu;             /* where it ran last */
	enum task_state state;
	uint64_t first_ns, last_ns;
	VEC(struct open_call) calls;
	size_t interrupt; /* calls from here on are an interrupt's */
	uint64_t interrupt_since_ns;
	bool entered;  /* it has entered a function since it is followed */
	bool gap;      /* what it did since last_ns is not known */
	bool lost;     /* open calls are not known: until it next enters the kernel */
	bool doubtful; /* it may have run where records were lost: its next event tells */
};

struct graph_function {
	uint64_t address;
	uint32_t function; /* of the model */
	enum graph_entry entry;
};

struct graph_paths {
	struct call_paths *into;
	struct graph_paths_options options;
	VEC(struct graph_task) tasks;
	struct pid_map by_tid;
	VEC(struct graph_function) functions;
	struct id_table by_address;
	VEC(uint32_t) cpus; /* the process of each CPU's interrupts, NO_PROCESS */
	uint32_t other;     /* function of the model */
	uint32_t first_process;
	uint64_t begin_ns;
	struct graph_paths_count count;
};

static inline struct call_process *graph_process(const struct graph_paths *g, uint32_t process)
{
	return &g->into->processes.items[process];
}

/* ---- graph_paths_tasks.c ---------------------------------------------- */

/* All of these give indices of the model. */
uint32_t graph_new_process(struct graph_paths *g, const char *name, int32_t pid, uint64_t time_ns);
/* A number that another task had before is this one's from now on. */
void graph_new_task(struct graph_paths *g, uint32_t process, int32_t tid);
/* NULL: not followed. */
struct graph_task *graph_find_task(struct graph_paths *g, int32_t tid);
struct graph_function graph_known_function(struct graph_paths *g, uint64_t address);
/* The process that holds the interrupts of a CPU: its one thread is the CPU. */
uint32_t graph_interrupts(struct graph_paths *g, uint32_t cpu, uint64_t time_ns);

/* ---- graph_paths_time.c ----------------------------------------------- */

/* The books of whoever a path's time belongs to: the task, or the CPU in an interrupt. */
struct call_thread *graph_thread(const struct graph_paths *g, const struct graph_task *t,
                                 uint32_t process);
/* Where time goes that is no open call's: outside, or unknown after a loss. */
uint32_t graph_base_path(struct graph_paths *g, const struct graph_task *t);
/* The tracer's own cost goes from net to own. */
void graph_take_own(struct graph_paths *g, struct graph_task *t, double ns);
/* Waiting is that of the innermost call that is the task's own. */
void graph_add_wait(struct graph_paths *g, struct graph_task *t, double ns, bool preempted);
/* The time since the task's last event; clocks of two CPUs may be a few ns apart. */
double graph_step(struct graph_task *t, uint64_t time_ns);
/*
 * An event of the task itself. It may come after the task gave the CPU up: the
 * scheduler tells of a switch a little before it makes it.
 */
void graph_ran_until(struct graph_paths *g, struct graph_task *t, uint64_t time_ns);

#endif
