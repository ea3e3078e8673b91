/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_paths: accounts the time between two events, and the rest at the end.
 */
#include "profile/calls/graph_paths_internal.h"

struct call_thread *graph_thread(const struct graph_paths *g, const struct graph_task *t,
                                 uint32_t process)
{
	return &graph_process(g, process)->threads.items[process == t->process ? t->thread : 0];
}

uint32_t graph_base_path(struct graph_paths *g, const struct graph_task *t)
{
	return t->lost ? call_path_child(graph_process(g, t->process), 0, g->other) : 0;
}

static void add_net(struct graph_paths *g, struct graph_task *t, double ns)
{
	struct open_call *call = t->calls.count ? vec_last(&t->calls) : NULL;
	uint32_t process = call ? call->process : t->process;
	uint32_t path = call ? call->path : graph_base_path(g, t);

	if (call)
		call->net_ns += ns;
	graph_process(g, process)->paths.items[path].net_ns += ns;
	graph_thread(g, t, process)->net_ns += ns;
}

void graph_take_own(struct graph_paths *g, struct graph_task *t, double ns)
{
	uint32_t process = t->calls.count ? vec_last(&t->calls)->process : t->process;

	add_net(g, t, -ns);
	graph_thread(g, t, process)->own_ns += ns;
	graph_process(g, process)->own_ns += ns;
}

void graph_add_wait(struct graph_paths *g, struct graph_task *t, double ns, bool preempted)
{
	size_t depth = t->interrupt < t->calls.count ? t->interrupt : t->calls.count;
	uint32_t index = depth ? t->calls.items[depth - 1].path : graph_base_path(g, t);
	struct call_path *path = &graph_process(g, t->process)->paths.items[index];
	struct call_thread *thread = graph_thread(g, t, t->process);

	if (preempted) {
		path->preempted_ns += ns;
		path->preempted_count++;
		thread->preempted_ns += ns;
	} else {
		path->blocked_ns += ns;
		path->blocked_count++;
		thread->blocked_ns += ns;
	}
}

double graph_step(struct graph_task *t, uint64_t time_ns)
{
	double ns = time_ns > t->last_ns ? (double)(time_ns - t->last_ns) : 0;

	if (t->state == TASK_UNSEEN)
		t->first_ns = time_ns;
	if (time_ns > t->last_ns)
		t->last_ns = time_ns;
	if (t->gap || t->state == TASK_UNSEEN)
		ns = 0;
	t->gap = false;
	return ns;
}

void graph_ran_until(struct graph_paths *g, struct graph_task *t, uint64_t time_ns)
{
	add_net(g, t, graph_step(t, time_ns));
	if (t->state == TASK_UNSEEN)
		t->state = TASK_RUNNING;
}

/*
 * The uncertainty of the cost of a call. It grows linearly with the calls, since all calls have the
 * same error.
 */
static void set_errors(const struct graph_paths *g, struct call_process *p)
{
	double inner = g->options.inner_error_ns, outer = g->options.outer_error_ns;
	uint64_t calls = 0;

	vec_each (path, &p->paths) {
		path->net_error_ns += (double)path->calls * inner;
		if (path->parent != CALL_PATH_NONE)
			p->paths.items[path->parent].net_error_ns += (double)path->calls * outer;
		calls += path->calls;
	}
	p->own_error_ns = (double)calls * (inner + outer);
}

static void end_task(struct graph_paths *g, struct graph_task *t, uint64_t time_ns)
{
	struct call_process *p = graph_process(g, t->process);
	struct call_thread *thread = &p->threads.items[t->thread];
	double ns;

	if (t->state == TASK_UNSEEN)
		return;
	if (t->state == TASK_ENDED) {
		thread->tid = 0;
	} else {
		bool running = t->state == TASK_RUNNING;

		p->flags |= CALL_RUNNING;
		ns = graph_step(t, time_ns);
		if (running)
			thread->tail_ns = ns;
		else
			graph_add_wait(g, t, ns, t->state == TASK_PREEMPTED);
		vec_each (call, &t->calls)
			graph_process(g, call->process)->paths.items[call->path].open++;
	}
	thread->wall_ns = (double)(t->last_ns - t->first_ns);
	thread->wall_residual_ns = thread->net_ns + thread->own_ns + thread->blocked_ns +
	                           thread->preempted_ns + thread->tail_ns - thread->wall_ns;
}

/* From the first event of any of its threads to the last. */
static void set_wall(struct graph_paths *g)
{
	VEC(uint64_t) first = {0};

	vec_each (p, &g->into->processes)
		vec_push(&first, UINT64_MAX);
	vec_each (t, &g->tasks)
		if (t->state != TASK_UNSEEN && t->first_ns < first.items[t->process])
			first.items[t->process] = t->first_ns;
	vec_each (t, &g->tasks) {
		struct call_process *p = graph_process(g, t->process);
		uint64_t begin = first.items[t->process];

		if (t->state != TASK_UNSEEN && (double)(t->last_ns - begin) > p->wall_ns)
			p->wall_ns = (double)(t->last_ns - begin);
	}
	vec_done(&first);
}

void graph_paths_end(struct graph_paths *g, uint64_t time_ns)
{
	vec_each (t, &g->tasks)
		end_task(g, t, time_ns);
	set_wall(g);
	vec_each (p, &g->into->processes)
		set_errors(g, p);
	vec_each (cpu, &g->cpus) {
		struct call_process *p = *cpu == NO_PROCESS ? NULL : graph_process(g, *cpu);

		/* A CPU's tree counts only the time in which the CPU serves interrupts. */
		if (p) {
			p->threads.items[0].wall_ns =
			        p->threads.items[0].net_ns + p->threads.items[0].own_ns;
			p->wall_ns = time_ns > g->begin_ns ? (double)(time_ns - g->begin_ns) : 0;
		}
	}
}
