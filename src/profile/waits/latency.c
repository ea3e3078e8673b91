/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/latency.h"

#include "base/memory/hash.h"

static struct latency_thread *thread_of(struct latency *l, uint32_t thread)
{
	return vec_at(&l->threads, thread);
}

static struct latency_group *group_of(struct latency *l, uint32_t process)
{
	if (l->mode == LATENCY_OF_MACHINE)
		return &l->machine;
	return vec_at(&l->processes, process);
}

static void start(struct latency *l, uint32_t thread, uint32_t process)
{
	struct latency_thread *t = thread_of(l, thread);

	if (t->runs)
		return;
	t->runs = true;
	t->process = process;
	group_of(l, process)->running++;
}

static void stop(struct latency *l, uint32_t thread)
{
	struct latency_thread *t = thread_of(l, thread);

	if (!t->runs)
		return;
	t->runs = false;
	group_of(l, t->process)->running--;
}

/* A CPU runs one thread: if the switch out of the last one was lost, it is over now. */
static void set_cpu(struct latency *l, uint16_t cpu, uint32_t thread)
{
	uint32_t *on_cpu;

	if (cpu == UINT16_MAX)
		return;
	on_cpu = vec_at(&l->cpus, cpu);
	if (*on_cpu && *on_cpu - 1 != thread)
		stop(l, *on_cpu - 1);
	*on_cpu = thread == ID_NONE ? 0 : thread + 1;
}

void latency_switch(struct latency *l, uint32_t thread, uint32_t process, uint16_t cpu, bool out)
{
	if (!l->mode)
		return;
	if (out) {
		stop(l, thread);
		set_cpu(l, cpu, ID_NONE);
	} else {
		set_cpu(l, cpu, thread);
		start(l, thread, process);
	}
}

void latency_leave(struct latency *l, uint32_t old, uint32_t now, uint32_t process)
{
	bool runs;

	if (!l->mode || old == ID_NONE || old == now)
		return;
	runs = thread_of(l, old)->runs;
	stop(l, old);
	vec_each (on_cpu, &l->cpus)
		if (*on_cpu == old + 1)
			*on_cpu = now == ID_NONE ? 0 : now + 1;
	if (runs && now != ID_NONE)
		start(l, now, process);
}

uint64_t latency_weight(struct latency *l, uint32_t thread, uint32_t process, uint64_t weight)
{
	struct latency_group *g;
	uint64_t whole, *rest;

	start(l, thread, process);
	g = group_of(l, thread_of(l, thread)->process);
	rest = vec_at(&g->rests, g->running);
	whole = weight / g->running;
	*rest += weight % g->running;
	if (*rest >= g->running) {
		*rest -= g->running;
		whole++;
	}
	return whole;
}

void latency_done(struct latency *l)
{
	vec_each (g, &l->processes)
		vec_done(&g->rests);
	vec_done(&l->machine.rests);
	vec_done(&l->processes);
	vec_done(&l->threads);
	vec_done(&l->cpus);
}
