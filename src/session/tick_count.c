/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/tick_count.h"

#define CPUS_MAX 65535 /* models do not distinguish larger numbers either */

void tick_count_init(struct tick_count *t, uint64_t period_ns, bool exclude_idle)
{
	*t = (struct tick_count){.period_ns = period_ns, .exclude_idle = exclude_idle};
}

void tick_count_done(struct tick_count *t)
{
	for (size_t i = 0; i < t->cpus.count; i++)
		if (t->seen.items[i])
			ledger_cpu_done(&t->cpus.items[i]);
	vec_done(&t->cpus);
	vec_done(&t->seen);
}

void tick_count_begin(struct tick_count *t, uint64_t start_ns)
{
	t->start_ns = start_ns;
	t->user = t->system = t->idle = t->samples = 0;
	for (size_t i = 0; i < t->cpus.count; i++)
		if (t->seen.items[i])
			ledger_cpu_restart(&t->cpus.items[i], start_ns);
}

static struct ledger_cpu_builder *cpu_of(struct tick_count *t, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return NULL;
	while (t->cpus.count <= cpu) {
		vec_add(&t->cpus);
		vec_push(&t->seen, false);
	}
	if (!t->seen.items[cpu]) {
		t->seen.items[cpu] = true;
		ledger_cpu_init(&t->cpus.items[cpu], t->period_ns, t->exclude_idle, t->start_ns, 0);
	}
	return &t->cpus.items[cpu];
}

static void on_sample(struct tick_count *t, const struct event *e)
{
	uint64_t ticks = t->period_ns ? (e->sample.period + t->period_ns / 2) / t->period_ns : 1;
	/*
	 * The idle task has no user mode: pid 0 in user mode is a process outside of the pid
	 * namespace.
	 */
	bool idle = e->pid == 0 && e->tid == 0 && e->mode != CPU_MODE_USER;
	struct ledger_cpu_builder *cpu = cpu_of(t, e->cpu);

	t->samples++;
	if (e->attr != 0 || e->time_ns < t->start_ns)
		return;
	*(idle                         ? &t->idle
	  : e->mode == CPU_MODE_KERNEL ? &t->system
	                               : &t->user) += ticks ? ticks : 1;
	if (cpu)
		ledger_cpu_sample(cpu, e->time_ns, idle, e->sample.period);
}

void tick_count_event(struct tick_count *t, const struct event *e)
{
	struct ledger_cpu_builder *cpu;

	if (e->kind == EVENT_SAMPLE) {
		on_sample(t, e);
	} else if (e->kind == EVENT_SWITCH && e->sched.machine_wide) {
		cpu = cpu_of(t, e->cpu);
		if (cpu)
			ledger_cpu_switch(cpu, e->time_ns, e->pid, e->sched.out,
			                  e->sched.next_prev_pid);
	}
}

void tick_count_finish(struct tick_count *t, uint64_t end_ns)
{
	for (size_t i = 0; i < t->cpus.count; i++)
		if (t->seen.items[i])
			ledger_cpu_finish(&t->cpus.items[i], end_ns);
}

static uint64_t missing(uint64_t due, uint64_t seen)
{
	return due > seen ? due - seen : 0;
}

void tick_count_status(const struct tick_count *t, struct session_status *status)
{
	status->ticks_known = true;
	status->samples = t->samples;
	status->ticks_user = t->user;
	status->ticks_system = t->system;
	status->ticks_idle = t->idle;
	for (size_t i = 0; i < t->cpus.count; i++) {
		const struct ledger_cpu *sums = &t->cpus.items[i].sums;
		uint64_t busy = missing(sums->ticks_due_busy, sums->ticks_seen_busy);
		uint64_t idle = missing(sums->ticks_due_idle, sums->ticks_seen_idle);

		if (!t->seen.items[i])
			continue;
		/*
		 * A halted CPU gets fewer ticks than are due; switch records show that it was idle.
		 */
		*(sums->has_switches ? &status->ticks_idle : &status->ticks_unobserved) += idle;
		status->ticks_unobserved += busy;
	}
}
