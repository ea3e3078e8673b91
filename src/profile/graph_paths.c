/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/graph_paths.h"

#include "process/pid_map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

struct known_function {
	uint64_t address;
	uint32_t function; /* of the model */
	enum graph_entry entry;
};

struct graph_paths {
	struct call_paths *into;
	struct graph_paths_options options;
	VEC(struct graph_task) tasks;
	struct pid_map by_tid;
	VEC(struct known_function) functions;
	struct id_table by_address;
	VEC(uint32_t) cpus; /* the process of each CPU's interrupts, NO_PROCESS */
	uint32_t other;     /* function of the model */
	uint32_t first_process;
	uint64_t begin_ns;
	struct graph_paths_count count;
};

struct graph_paths *graph_paths_new(struct call_paths *into,
                                    const struct graph_paths_options *options)
{
	struct graph_paths *g = xcalloc(1, sizeof(*g));

	g->into = into;
	g->options = *options;
	g->first_process = NO_PROCESS;
	g->other = call_paths_function(into, &(struct call_function){.kind = CALL_OTHER});
	return g;
}

void graph_paths_free(struct graph_paths *g)
{
	if (!g)
		return;
	vec_each (t, &g->tasks)
		vec_done(&t->calls);
	vec_done(&g->tasks);
	pid_map_done(&g->by_tid);
	vec_done(&g->functions);
	id_table_done(&g->by_address);
	vec_done(&g->cpus);
	free(g);
}

struct graph_paths_count graph_paths_count(const struct graph_paths *g)
{
	return g->count;
}

static struct call_process *process_at(const struct graph_paths *g, uint32_t process)
{
	return &g->into->processes.items[process];
}

static uint32_t new_process(struct graph_paths *g, const char *name, int32_t pid, uint64_t time_ns)
{
	uint32_t process = call_paths_process(g->into, name, pid);
	struct call_process *p = process_at(g, process);

	p->flags |= CALL_KERNEL | g->options.flags;
	p->inner_ns = g->options.inner_ns;
	p->outer_ns = g->options.outer_ns;
	p->start_ns = g->options.start_ns + (g->begin_ns ? time_ns - g->begin_ns : 0);
	return process;
}

static uint32_t new_thread(struct graph_paths *g, uint32_t process, int32_t tid, uint32_t name)
{
	struct call_process *p = process_at(g, process);
	struct call_thread *thread = vec_add(&p->threads);

	thread->tid = tid;
	thread->threads = 1;
	thread->name = name;
	thread->cpu_ns = thread->cpu_residual_ns = NAN;
	return (uint32_t)(p->threads.count - 1);
}

/* A number that another task had before is this one's from now on. */
static void new_task(struct graph_paths *g, uint32_t process, int32_t tid)
{
	struct graph_task *t = vec_add(&g->tasks);

	t->tid = tid;
	t->process = process;
	t->thread = new_thread(g, process, tid, process_at(g, process)->name);
	t->interrupt = NO_INTERRUPT;
	pid_map_set(&g->by_tid, tid, (uint32_t)(g->tasks.count - 1));
}

uint32_t graph_paths_root(struct graph_paths *g, int32_t pid, const char *name)
{
	uint32_t process = new_process(g, name, pid, 0);

	if (g->first_process == NO_PROCESS)
		g->first_process = process;
	new_task(g, process, pid);
	return process;
}

static struct graph_task *find_task(struct graph_paths *g, int32_t tid)
{
	uint32_t id = pid_map_get(&g->by_tid, tid);

	return id == ID_NONE ? NULL : &g->tasks.items[id];
}

static bool same_address(const void *ctx, uint32_t id, const void *key)
{
	const struct graph_paths *g = ctx;

	return g->functions.items[id].address == *(const uint64_t *)key;
}

static struct known_function known_function(struct graph_paths *g, uint64_t address)
{
	uint64_t hash = hash_u64(address);
	uint32_t id = id_table_find(&g->by_address, hash, same_address, g, &address);
	struct call_function f = {.kind = CALL_FUNCTION};
	enum graph_entry entry = GRAPH_CALLED;

	if (id != ID_NONE)
		return g->functions.items[id];
	f.frame = (struct frame){.image = IMAGE_ID_UNKNOWN, .offset = address};
	if (g->options.entry)
		entry = g->options.entry(g->options.ctx, address);
	if (g->options.describe)
		g->options.describe(g->options.ctx, g->into, address, &f);
	vec_push(&g->functions,
	         (struct known_function){.address = address,
	                                 .function = call_paths_function(g->into, &f),
	                                 .entry = entry});
	id_table_add(&g->by_address, hash, (uint32_t)(g->functions.count - 1));
	return *vec_last(&g->functions);
}

/* The process that holds the interrupts of a CPU: its one thread is the CPU. */
static uint32_t interrupts_of(struct graph_paths *g, uint32_t cpu, uint64_t time_ns)
{
	char name[32];
	uint32_t process;

	while (g->cpus.count <= cpu)
		vec_push(&g->cpus, NO_PROCESS);
	if (g->cpus.items[cpu] != NO_PROCESS)
		return g->cpus.items[cpu];
	snprintf(name, sizeof(name), "interrupts/%u", cpu);
	process = new_process(g, name, 0, time_ns);
	new_thread(g, process, 0, process_at(g, process)->name);
	g->cpus.items[cpu] = process;
	return process;
}

/* The books of whoever a path's time belongs to: the task, or the CPU in an interrupt. */
static struct call_thread *thread_of(const struct graph_paths *g, const struct graph_task *t,
                                     uint32_t process)
{
	return &process_at(g, process)->threads.items[process == t->process ? t->thread : 0];
}

/* Where time goes that is no open call's: outside, or unknown after a loss. */
static uint32_t base_path(struct graph_paths *g, const struct graph_task *t)
{
	return t->lost ? call_path_child(process_at(g, t->process), 0, g->other) : 0;
}

static void add_net(struct graph_paths *g, struct graph_task *t, double ns)
{
	struct open_call *call = t->calls.count ? vec_last(&t->calls) : NULL;
	uint32_t process = call ? call->process : t->process;
	uint32_t path = call ? call->path : base_path(g, t);

	if (call)
		call->net_ns += ns;
	process_at(g, process)->paths.items[path].net_ns += ns;
	thread_of(g, t, process)->net_ns += ns;
}

/* The tracer's own cost goes from net to own. */
static void take_own(struct graph_paths *g, struct graph_task *t, double ns)
{
	uint32_t process = t->calls.count ? vec_last(&t->calls)->process : t->process;

	add_net(g, t, -ns);
	thread_of(g, t, process)->own_ns += ns;
	process_at(g, process)->own_ns += ns;
}

/* Waiting is that of the innermost call that is the task's own. */
static void add_wait(struct graph_paths *g, struct graph_task *t, double ns, bool preempted)
{
	size_t depth = t->interrupt < t->calls.count ? t->interrupt : t->calls.count;
	uint32_t index = depth ? t->calls.items[depth - 1].path : base_path(g, t);
	struct call_path *path = &process_at(g, t->process)->paths.items[index];
	struct call_thread *thread = thread_of(g, t, t->process);

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

/* The time since the task's last event; clocks of two CPUs may be a few ns apart. */
static double step(struct graph_task *t, uint64_t time_ns)
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

/*
 * An event of the task itself. It may come after the task gave the CPU up: the
 * scheduler tells of a switch a little before it makes it.
 */
static void ran_until(struct graph_paths *g, struct graph_task *t, uint64_t time_ns)
{
	add_net(g, t, step(t, time_ns));
	if (t->state == TASK_UNSEEN)
		t->state = TASK_RUNNING;
}

/* The innermost call is over: `ended` by its exit, else without one. */
static void pop(struct graph_paths *g, struct graph_task *t, bool ended)
{
	struct open_call call;

	if (ended)
		take_own(g, t, g->options.inner_ns);
	call = *vec_last(&t->calls);
	t->calls.count--;
	if (ended) {
		call_path_range(&process_at(g, call.process)->paths.items[call.path], call.net_ns,
		                call.net_ns);
		take_own(g, t, g->options.outer_ns);
	}
	if (t->interrupt != NO_INTERRUPT && t->calls.count <= t->interrupt) {
		uint64_t since = t->interrupt_since_ns;

		add_wait(g, t, t->last_ns > since ? (double)(t->last_ns - since) : 0, true);
		t->interrupt = NO_INTERRUPT;
	}
}

/* Closes calls whose exits did not come, down to `count` of them. */
static void resync(struct graph_paths *g, struct graph_task *t, size_t count)
{
	struct call_process *p = process_at(g, t->process);

	while (t->calls.count > count) {
		pop(g, t, false);
		p->resyncs++;
		p->flags |= CALL_RESYNCED;
	}
}

/* What the task's open calls are is not known any more. */
static void cut(struct graph_paths *g, struct graph_task *t)
{
	resync(g, t, 0);
	t->lost = true;
	t->doubtful = false;
	process_at(g, t->process)->flags |= CALL_LOST;
}

static void check_doubt(struct graph_paths *g, struct graph_task *t, bool fits)
{
	if (!t->doubtful)
		return;
	t->doubtful = false;
	if (!fits)
		cut(g, t);
}

/* The path that a new call of the task is a child of; its process in *process. */
static uint32_t parent_of(struct graph_paths *g, struct graph_task *t, uint32_t cpu, bool enters,
                          uint32_t *process)
{
	struct call_function f = {.kind = CALL_INTERRUPT};
	size_t base = t->interrupt == NO_INTERRUPT ? 0 : t->interrupt;
	uint32_t path;

	if (t->calls.count > base) {
		*process = vec_last(&t->calls)->process;
		return vec_last(&t->calls)->path;
	}
	*process = t->process;
	if (t->interrupt == NO_INTERRUPT)
		return base_path(g, t);
	*process = interrupts_of(g, cpu, t->last_ns);
	path = call_path_child(process_at(g, *process), 0, call_paths_function(g->into, &f));
	/* Its begin was lost. */
	if (t->lost && !enters)
		path = call_path_child(process_at(g, *process), path, g->other);
	return path;
}

/*
 * An interrupt may come when the innermost function has been left, but its exit
 * not been told: it is at that one's own depth then. So an interrupt closes
 * nothing, and within one no call that it held up is closed. The same holds for
 * the preemption at an interrupt's end.
 */
static void close_passed(struct graph_paths *g, struct graph_task *t, int32_t depth)
{
	size_t base = t->interrupt == NO_INTERRUPT ? 0 : t->interrupt;
	size_t keep = t->calls.count;

	while (keep > base && t->calls.items[keep - 1].depth >= depth)
		keep--;
	resync(g, t, keep);
}

static void enter(struct graph_paths *g, struct graph_task *t, const struct graph_event *e)
{
	struct known_function f = known_function(g, e->function);
	bool begins = t->interrupt == NO_INTERRUPT && (e->interrupt || f.entry == GRAPH_INTERRUPT);
	uint32_t process, path;

	ran_until(g, t, e->time_ns);
	t->cpu = e->cpu;
	if (begins) {
		t->interrupt = t->calls.count;
		t->interrupt_since_ns = t->last_ns;
	} else {
		check_doubt(g, t,
		            t->calls.count ? e->depth == vec_last(&t->calls)->depth + 1
		                           : e->depth == 0);
		close_passed(g, t, e->depth + (f.entry == GRAPH_PREEMPT));
		if (!e->depth)
			t->lost = false;
	}
	path = parent_of(g, t, e->cpu, f.entry == GRAPH_INTERRUPT, &process);
	path = call_path_child(process_at(g, process), path, f.function);
	process_at(g, process)->paths.items[path].calls++;
	vec_push(&t->calls, (struct open_call){.process = process,
	                                       .path = path,
	                                       .function = e->function,
	                                       .depth = e->depth});
	t->entered = true;
	g->count.calls++;
}

static bool is_innermost(const struct graph_task *t, const struct graph_event *e)
{
	const struct open_call *call = t->calls.count ? vec_last(&t->calls) : NULL;

	return call && call->depth == e->depth && call->function == e->function;
}

static void leave(struct graph_paths *g, struct graph_task *t, const struct graph_event *e)
{
	ran_until(g, t, e->time_ns);
	t->cpu = e->cpu;
	check_doubt(g, t, is_innermost(t, e));
	close_passed(g, t, e->depth + 1);
	if (!is_innermost(t, e) && t->interrupt != NO_INTERRUPT) {
		/* The interrupt's own end was missed. */
		resync(g, t, t->interrupt);
		close_passed(g, t, e->depth + 1);
	}
	if (is_innermost(t, e)) {
		pop(g, t, true);
	} else if (t->entered && !t->lost) {
		/* Calls that were open when the tracing began end without having begun. */
		process_at(g, t->process)->unmatched_exits++;
		process_at(g, t->process)->flags |= CALL_UNMATCHED;
	}
}

static void switch_out(struct graph_paths *g, struct graph_task *t, const struct graph_event *e)
{
	ran_until(g, t, e->time_ns);
	/* Nothing is switched within an interrupt: its last exit was missed. */
	if (t->interrupt != NO_INTERRUPT)
		resync(g, t, t->interrupt);
	t->cpu = e->cpu;
	t->state = e->dead ? TASK_ENDED : e->preempted ? TASK_PREEMPTED : TASK_BLOCKED;
	thread_of(g, t, t->process)->name = intern_add(&g->into->images.names, e->name);
}

static void switch_in(struct graph_paths *g, struct graph_task *t, const struct graph_event *e)
{
	enum task_state was = t->state;
	bool gap = t->gap || was == TASK_RUNNING; /* its leaving was not seen */
	double ns = step(t, e->time_ns);

	t->state = TASK_RUNNING;
	t->cpu = e->cpu;
	if (was != TASK_UNSEEN && !gap)
		add_wait(g, t, ns, was == TASK_PREEMPTED);
}

static void begin_task(struct graph_paths *g, const struct graph_task *parent,
                       const struct graph_event *e)
{
	uint32_t process = parent->process;
	const struct call_process *of = process_at(g, process);
	int32_t pid = of->pid;

	if (!e->thread) {
		process = new_process(g, intern_text(&g->into->images.names, of->name), e->other,
		                      e->time_ns);
		process_at(g, process)->parent = pid;
	}
	new_task(g, process, e->other);
}

/*
 * Tasks that ran on the CPU lose their stacks at once; those that ran nowhere
 * may have run there meanwhile.
 */
static void lose(struct graph_paths *g, const struct graph_event *e)
{
	struct call_process *p;

	g->count.gaps++;
	g->count.lost += e->lost;
	vec_each (t, &g->tasks) {
		if (t->state == TASK_RUNNING && t->cpu == e->cpu) {
			cut(g, t);
			t->gap = true;
		} else if (t->state != TASK_RUNNING && t->state != TASK_ENDED) {
			t->doubtful = true;
		}
	}
	if (g->first_process == NO_PROCESS)
		return;
	p = process_at(g, g->first_process);
	p->lost_events += e->lost;
	p->flags |= CALL_LOST;
}

static void rename_process(struct graph_paths *g, const struct graph_task *t, const char *name)
{
	struct call_process *p = process_at(g, t->process);

	p->name = intern_add(&g->into->images.names, name);
	p->threads.items[t->thread].name = p->name;
}

void graph_paths_event(struct graph_paths *g, const struct graph_event *e)
{
	struct graph_task *t = e->kind == GRAPH_LOST ? NULL : find_task(g, e->task);
	struct graph_task *other = e->kind == GRAPH_SWITCH ? find_task(g, e->other) : NULL;

	g->count.events++;
	if (!g->begin_ns)
		g->begin_ns = e->time_ns;
	if (e->kind == GRAPH_LOST) {
		lose(g, e);
		return;
	}
	if (other)
		switch_in(g, other, e);
	if (!t) {
		g->count.foreign += !other;
		return;
	}
	switch (e->kind) {
	case GRAPH_ENTRY:
		enter(g, t, e);
		break;
	case GRAPH_EXIT:
		leave(g, t, e);
		break;
	case GRAPH_SWITCH:
		switch_out(g, t, e);
		break;
	case GRAPH_NEW:
		begin_task(g, t, e);
		break;
	case GRAPH_EXEC:
		rename_process(g, t, e->name);
		break;
	case GRAPH_LOST:
		break;
	}
}

/* Not known for sure how far the cost of a call was hit: grows with the calls, all one way. */
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
	struct call_process *p = process_at(g, t->process);
	struct call_thread *thread = &p->threads.items[t->thread];
	double ns;

	if (t->state == TASK_UNSEEN)
		return;
	if (t->state == TASK_ENDED) {
		thread->tid = 0;
	} else {
		bool running = t->state == TASK_RUNNING;

		p->flags |= CALL_RUNNING;
		ns = step(t, time_ns);
		if (running)
			thread->tail_ns = ns;
		else
			add_wait(g, t, ns, t->state == TASK_PREEMPTED);
		vec_each (call, &t->calls)
			process_at(g, call->process)->paths.items[call->path].open++;
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
		struct call_process *p = process_at(g, t->process);
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
		struct call_process *p = *cpu == NO_PROCESS ? NULL : process_at(g, *cpu);

		/* An interrupt's CPU is looked at while it serves one, and at no other time. */
		if (p) {
			p->threads.items[0].wall_ns =
			        p->threads.items[0].net_ns + p->threads.items[0].own_ns;
			p->wall_ns = time_ns > g->begin_ns ? (double)(time_ns - g->begin_ns) : 0;
		}
	}
}
