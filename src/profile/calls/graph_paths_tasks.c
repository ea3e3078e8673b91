/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_paths: the followed tasks, and the known functions.
 */
#include "profile/calls/graph_paths_internal.h"

#include <math.h>
#include <stdio.h>

uint32_t graph_new_process(struct graph_paths *g, const char *name, int32_t pid, uint64_t time_ns)
{
	uint32_t process = call_paths_process(g->into, name, pid);
	struct call_process *p = graph_process(g, process);

	p->flags |= CALL_KERNEL | g->options.flags;
	p->inner_ns = g->options.inner_ns;
	p->outer_ns = g->options.outer_ns;
	p->start_ns = g->options.start_ns + (g->begin_ns ? time_ns - g->begin_ns : 0);
	return process;
}

static uint32_t new_thread(struct graph_paths *g, uint32_t process, int32_t tid, uint32_t name)
{
	struct call_process *p = graph_process(g, process);
	struct call_thread *thread = vec_add(&p->threads);

	thread->tid = tid;
	thread->threads = 1;
	thread->name = name;
	thread->cpu_ns = thread->cpu_residual_ns = NAN;
	return (uint32_t)(p->threads.count - 1);
}

void graph_new_task(struct graph_paths *g, uint32_t process, int32_t tid)
{
	struct graph_task *t = vec_add(&g->tasks);

	t->tid = tid;
	t->process = process;
	t->thread = new_thread(g, process, tid, graph_process(g, process)->name);
	t->interrupt = NO_INTERRUPT;
	pid_map_set(&g->by_tid, tid, (uint32_t)(g->tasks.count - 1));
}

uint32_t graph_paths_root(struct graph_paths *g, int32_t pid, const char *name)
{
	uint32_t process = graph_new_process(g, name, pid, 0);

	if (g->first_process == NO_PROCESS)
		g->first_process = process;
	graph_new_task(g, process, pid);
	return process;
}

struct graph_task *graph_find_task(struct graph_paths *g, int32_t tid)
{
	uint32_t id = pid_map_get(&g->by_tid, tid);

	return id == ID_NONE ? NULL : &g->tasks.items[id];
}

static bool same_address(const void *ctx, uint32_t id, const void *key)
{
	const struct graph_paths *g = ctx;

	return g->functions.items[id].address == *(const uint64_t *)key;
}

struct graph_function graph_known_function(struct graph_paths *g, uint64_t address)
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
	         (struct graph_function){.address = address,
	                                 .function = call_paths_function(g->into, &f),
	                                 .entry = entry});
	id_table_add(&g->by_address, hash, (uint32_t)(g->functions.count - 1));
	return *vec_last(&g->functions);
}

uint32_t graph_interrupts(struct graph_paths *g, uint32_t cpu, uint64_t time_ns)
{
	char name[32];
	uint32_t process;

	while (g->cpus.count <= cpu)
		vec_push(&g->cpus, NO_PROCESS);
	if (g->cpus.items[cpu] != NO_PROCESS)
		return g->cpus.items[cpu];
	snprintf(name, sizeof(name), "interrupts/%u", cpu);
	process = graph_new_process(g, name, 0, time_ns);
	new_thread(g, process, 0, graph_process(g, process)->name);
	g->cpus.items[cpu] = process;
	return process;
}
