/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_paths: applies each event to the open calls of its task.
 */
#include "profile/calls/graph_paths.h"

#include "profile/calls/graph_paths_internal.h"

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

/* Closes the innermost call: `ended`: by its exit; else its exit is missing. */
static void pop(struct graph_paths *g, struct graph_task *t, bool ended)
{
	struct open_call call;

	if (ended)
		graph_take_own(g, t, g->options.inner_ns);
	call = *vec_last(&t->calls);
	t->calls.count--;
	if (ended) {
		call_path_range(&graph_process(g, call.process)->paths.items[call.path],
		                call.net_ns, call.net_ns);
		graph_take_own(g, t, g->options.outer_ns);
	}
	if (t->interrupt != NO_INTERRUPT && t->calls.count <= t->interrupt) {
		uint64_t since = t->interrupt_since_ns;

		graph_add_wait(g, t, t->last_ns > since ? (double)(t->last_ns - since) : 0, true);
		t->interrupt = NO_INTERRUPT;
	}
}

/* Closes calls with missing exits until `count` are left. */
static void resync(struct graph_paths *g, struct graph_task *t, size_t count)
{
	struct call_process *p = graph_process(g, t->process);

	while (t->calls.count > count) {
		pop(g, t, false);
		p->resyncs++;
		p->flags |= CALL_RESYNCED;
	}
}

/* The task's open calls are unknown after lost records. */
static void cut(struct graph_paths *g, struct graph_task *t)
{
	resync(g, t, 0);
	t->lost = true;
	t->doubtful = false;
	graph_process(g, t->process)->flags |= CALL_LOST;
}

static void check_doubt(struct graph_paths *g, struct graph_task *t, bool fits)
{
	if (!t->doubtful)
		return;
	t->doubtful = false;
	if (!fits)
		cut(g, t);
}

/* The path that gets a new call of the task as a child; *process: its process. */
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
		return graph_base_path(g, t);
	*process = graph_interrupts(g, cpu, t->last_ns);
	path = call_path_child(graph_process(g, *process), 0, call_paths_function(g->into, &f));
	/* The entries of the interrupt's open calls were lost. */
	if (t->lost && !enters)
		path = call_path_child(graph_process(g, *process), path, g->other);
	return path;
}

/*
 * An interrupt may come after the innermost function returned and before its exit was recorded; it
 * then has that function's depth. So an interrupt closes no call, and within an interrupt no
 * interrupted call is closed. The same is true for the preemption at an interrupt's end.
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
	struct graph_function f = graph_known_function(g, e->function);
	bool begins = t->interrupt == NO_INTERRUPT && (e->interrupt || f.entry == GRAPH_INTERRUPT);
	uint32_t process, path;

	graph_ran_until(g, t, e->time_ns);
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
	path = call_path_child(graph_process(g, process), path, f.function);
	graph_process(g, process)->paths.items[path].calls++;
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
	graph_ran_until(g, t, e->time_ns);
	t->cpu = e->cpu;
	check_doubt(g, t, is_innermost(t, e));
	close_passed(g, t, e->depth + 1);
	if (!is_innermost(t, e) && t->interrupt != NO_INTERRUPT) {
		/* The exit of the interrupt's outermost function is missing. */
		resync(g, t, t->interrupt);
		close_passed(g, t, e->depth + 1);
	}
	if (is_innermost(t, e)) {
		pop(g, t, true);
	} else if (t->entered && !t->lost) {
		/* Exits of calls that were open when tracing began have no entry. */
		graph_process(g, t->process)->unmatched_exits++;
		graph_process(g, t->process)->flags |= CALL_UNMATCHED;
	}
}

static void switch_out(struct graph_paths *g, struct graph_task *t, const struct graph_event *e)
{
	graph_ran_until(g, t, e->time_ns);
	/* An interrupt is never switched out, so its last exit is missing. */
	if (t->interrupt != NO_INTERRUPT)
		resync(g, t, t->interrupt);
	t->cpu = e->cpu;
	t->state = e->dead ? TASK_ENDED : e->preempted ? TASK_PREEMPTED : TASK_BLOCKED;
	graph_thread(g, t, t->process)->name = intern_add(&g->into->images.names, e->name);
}

static void switch_in(struct graph_paths *g, struct graph_task *t, const struct graph_event *e)
{
	enum task_state was = t->state;
	bool gap = t->gap || was == TASK_RUNNING; /* the switch out was not recorded */
	double ns = graph_step(t, e->time_ns);

	t->state = TASK_RUNNING;
	t->cpu = e->cpu;
	if (was != TASK_UNSEEN && !gap)
		graph_add_wait(g, t, ns, was == TASK_PREEMPTED);
}

static void begin_task(struct graph_paths *g, const struct graph_task *parent,
                       const struct graph_event *e)
{
	uint32_t process = parent->process;
	const struct call_process *of = graph_process(g, process);
	int32_t pid = of->pid;

	if (!e->thread) {
		process = graph_new_process(g, intern_text(&g->into->images.names, of->name),
		                            e->other, e->time_ns);
		graph_process(g, process)->parent = pid;
	}
	graph_new_task(g, process, e->other);
}

/*
 * The open calls of tasks that ran on the CPU are lost. Tasks that did not run may have run there
 * since; their next event shows it.
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
	p = graph_process(g, g->first_process);
	p->lost_events += e->lost;
	p->flags |= CALL_LOST;
}

static void rename_process(struct graph_paths *g, const struct graph_task *t, const char *name)
{
	struct call_process *p = graph_process(g, t->process);

	p->name = intern_add(&g->into->images.names, name);
	p->threads.items[t->thread].name = p->name;
}

void graph_paths_event(struct graph_paths *g, const struct graph_event *e)
{
	struct graph_task *t = e->kind == GRAPH_LOST ? NULL : graph_find_task(g, e->task);
	struct graph_task *other = e->kind == GRAPH_SWITCH ? graph_find_task(g, e->other) : NULL;

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
