/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_paths_internal: private declarations of the graph_paths files.
 *
 * graph_paths.c processes events and keeps each task's open calls; graph_paths_tasks.c has the
 * tasks, their processes and threads in the model, and the functions; graph_paths_time.c accounts
 * the time between events, and the end. All data lives from graph_paths_new() to
 * graph_paths_free(). Times are ns of the tracer's clock. No function fails. Pointers to tasks,
 * processes and threads are valid until the next one is added. One thread. Uses: base, event,
 * process.
 */
#ifndef ASSAY_PROFILE_CALLS_GRAPH_PATHS_INTERNAL_H
#define ASSAY_PROFILE_CALLS_GRAPH_PATHS_INTERNAL_H

#include "process/pid_map.h"
#include "profile/calls/graph_paths.h"

#define NO_INTERRUPT SIZE_MAX
#define NO_PROCESS UINT32_MAX

enum task_state {
	TASK_UNSEEN, /* it has no event yet */
	TASK_RUNNING,
	TASK_BLOCKED,
	TASK_PREEMPTED,
	TASK_ENDED,
};

/* An open call. The calls of an interrupt are above the interrupted ones. */
struct open_call {
	uint32_t process, path; /* process: the task's, or that of the CPU's interrupts */
	uint64_t function;
	int32_t depth;
	double net_ns; /* of this call, so far */
};

struct graph_task {
	int32_t tid;
	uint32_t process, thread; /* of the model */
	uint32_t cpu;             /* the CPU on which it last ran */
	enum task_state state;
	uint64_t first_ns, last_ns;
	VEC(struct open_call) calls;
	size_t interrupt; /* index of an interrupt's first call */
	uint64_t interrupt_since_ns;
	bool entered;  /* it has entered a function since it was followed */
	bool gap;      /* its activity since last_ns is unknown */
	bool lost;     /* open calls are unknown until it next enters the kernel */
	bool doubtful; /* it may have run where records were lost; its next event shows it */
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

/* All functions return indices in the model. */
uint32_t graph_new_process(struct graph_paths *g, const char *name, int32_t pid, uint64_t time_ns);
/* Assigns the tid to a new task; the task that had it before is replaced. */
void graph_new_task(struct graph_paths *g, uint32_t process, int32_t tid);
/* NULL: the task is not followed. */
struct graph_task *graph_find_task(struct graph_paths *g, int32_t tid);
struct graph_function graph_known_function(struct graph_paths *g, uint64_t address);
/* The process for the interrupts of a CPU; its only thread is the CPU. */
uint32_t graph_interrupts(struct graph_paths *g, uint32_t cpu, uint64_t time_ns);

/* ---- graph_paths_time.c ----------------------------------------------- */

/* The account that a path's time belongs to: of the task, or of the CPU if an interrupt is served.
 */
struct call_thread *graph_thread(const struct graph_paths *g, const struct graph_task *t,
                                 uint32_t process);
/* The path for time without an open call: outside, or unknown after a loss. */
uint32_t graph_base_path(struct graph_paths *g, const struct graph_task *t);
/* Moves the tracer's own cost from net to own. */
void graph_take_own(struct graph_paths *g, struct graph_task *t, double ns);
/* Adds waiting time to the innermost call of the task itself. */
void graph_add_wait(struct graph_paths *g, struct graph_task *t, double ns, bool preempted);
/* The time since the task's last event; clocks of two CPUs may be a few ns apart. */
double graph_step(struct graph_task *t, uint64_t time_ns);
/*
 * Accounts the time up to an event of the task. The event may come after the switch out, because
 * the scheduler reports a switch shortly before it happens.
 */
void graph_ran_until(struct graph_paths *g, struct graph_task *t, uint64_t time_ns);

#endif
