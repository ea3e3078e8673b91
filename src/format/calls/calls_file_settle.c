/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/calls/calls_file_internal.h"

#include <math.h>

/*
 * The header has a pair of clocks from the runtime's start, and the latest pair that the runtime
 * read, seconds or days later. A live reader's pair is later still.
 */
void calls_table_rate(struct calls_file_table *t, const struct calls_state *state)
{
	struct assay_calls_moment first = t->header.first, latest = t->header.latest;

	if (state && state->live && state->now > latest.ticks && state->now_ns > latest.ns)
		latest = (struct assay_calls_moment){state->now, state->now_ns};
	if (latest.ticks > first.ticks && latest.ns > first.ns) {
		t->ns_per_tick =
		        (double)(latest.ns - first.ns) / (double)(latest.ticks - first.ticks);
		return;
	}
	/* Without a rate, times are unknown and counts remain valid. */
	t->ns_per_tick = 0;
	t->damaged = true;
}

uint64_t calls_table_end(const struct calls_file_table *t, const struct calls_state *state)
{
	uint64_t end = t->header.end_ticks;

	if (state && state->live)
		return state->now;
	if (!end)
		vec_each (thread, &t->threads)
			end = thread->record.last > end ? thread->record.last : end;
	return end;
}

/* Marks the calls above a node as open; `walk` identifies the marks of this walk. */
static void mark_open(struct calls_file_table *t, uint32_t unit, uint32_t thread, uint32_t walk)
{
	uint32_t i = calls_table_node(t, unit);

	for (; i != ID_NONE; i = t->nodes.items[i].parent) {
		struct calls_node *node = &t->nodes.items[i];

		if (node->thread != thread || node->seen == walk)
			return;
		node->seen = walk;
		node->open = 1;
	}
}

static void opens_find(struct calls_file_table *t)
{
	for (uint32_t i = 0; i < t->threads.count; i++) {
		const struct assay_calls_thread *r = &t->threads.items[i].record;
		uint32_t stacks = r->stack_count;

		if (stacks > ASSAY_CALLS_STACKS_MAX)
			stacks = ASSAY_CALLS_STACKS_MAX;
		mark_open(t, r->current, i, i + 1);
		for (uint32_t s = 0; s < stacks; s++)
			mark_open(t, r->stacks[s], i, i + 1);
	}
}

/* A call has the cost of two events; an open call has half of this cost. */
static void halves_count(struct calls_file_table *t)
{
	vec_each (node, &t->nodes) {
		node->halves = (int64_t)(node->calls * 2 - (node->open && node->calls ? 1 : 0));
		if (node->parent != ID_NONE)
			calls_sum(&t->nodes.items[node->parent].child_halves,
			          (uint64_t)node->halves);
	}
}

static const struct calls_thread_state *state_of(const struct calls_state *state, int32_t tid)
{
	for (size_t i = 0; state && i < state->thread_count; i++)
		if (state->threads[i].tid == tid)
			return &state->threads[i];
	return NULL;
}

static double within(double value, double most)
{
	return value < 0 ? 0 : value > most ? most : value;
}

/*
 * The part of the tail in which the thread waited for a CPU: the kernel's total since the thread's
 * start, minus the preempted time of its calls. After each wake-up the thread also waits for a CPU;
 * its calls count that as blocked. For a thread that is blocked now, the blocked time is subtracted
 * too, so that it is not counted twice.
 */
static double tail_preempted(const struct calls_file_table *t,
                             const struct calls_thread_item *thread,
                             const struct calls_thread_state *clocks)
{
	double known = (double)thread->preempted;

	if (thread->record.threads > 1)
		return 0; /* the calls are of several threads, but the total is of one thread */
	if (!clocks->runs)
		known += (double)thread->blocked;
	return (double)clocks->runnable_ns / t->ns_per_tick - known;
}

/* Accounts the tail; its time on CPU belongs to the function that was current at the last event. */
static void tail_share(struct calls_file_table *t, struct calls_thread_item *thread,
                       const struct calls_thread_state *clocks, double cpu_ns)
{
	uint32_t current = calls_table_node(t, thread->record.current);
	double on_cpu, preempted, blocked;
	struct calls_node *node;

	if (current == ID_NONE || !clocks || t->ns_per_tick <= 0 || isnan(cpu_ns))
		return;
	on_cpu = within(((double)clocks->cpu_ns - cpu_ns) / t->ns_per_tick, thread->tail);
	preempted = within(tail_preempted(t, thread, clocks), thread->tail - on_cpu);
	blocked = thread->tail - on_cpu - preempted;
	node = &t->nodes.items[current];
	calls_sum(&node->net, (uint64_t)llrint(on_cpu));
	calls_sum(&node->preempted, (uint64_t)llrint(preempted));
	node->preempted_count += preempted > 0;
	calls_sum(&node->blocked, (uint64_t)llrint(blocked));
	node->blocked_count += blocked > 0;
	thread->cpu_ns += on_cpu * t->ns_per_tick;
	thread->tail = 0;
}

static double span(uint64_t from, uint64_t to)
{
	return to > from ? (double)(to - from) : 0;
}

/* CPU time from the thread's first event to its last, by the kernel's clock. */
static double last_cpu_ns(const struct calls_file_table *t, const struct assay_calls_thread *r,
                          const struct calls_thread_state *clocks)
{
	bool synced = r->sync >= r->first;
	uint64_t sync = synced ? r->sync : r->first;

	if (!r->sync_cpu_ns && !r->before_cpu_ns)
		return NAN; /* there is no CPU clock for the interrupts of a CPU in a kernel's table
		             */
	if (t->header.flags & ASSAY_CALLS_UNSWITCHED && r->last > sync)
		return clocks ? (double)clocks->cpu_ns
		              : NAN; /* it is unknown whether the thread waited */
	/* The thread was not switched out since that reading of both clocks. */
	return (double)(synced ? r->sync_cpu_ns : r->before_cpu_ns) +
	       span(sync, r->last) * t->ns_per_tick;
}

/*
 * Settles the thread that uses the record now; the past_ fields have the earlier threads. A thread
 * without events since the baseline that has exited is settled at the baseline's time, so that
 * nothing remains after the subtraction.
 */
static void thread_settle(struct calls_file_table *t, struct calls_thread_item *thread,
                          const struct calls_state *state, const struct calls_state *base)
{
	const struct assay_calls_thread *r = &thread->record;
	const struct calls_thread_state *clocks;
	uint64_t end = t->header.end_ticks, then;
	double cpu;

	thread->wall = (double)r->past_wall;
	thread->cpu_ns = (double)r->past_cpu_ns;
	if (!r->tid)
		return;
	if (!(state && state->live))
		state = base && base->live && r->last < base->now ? base : NULL;
	then = state ? state->now : end;
	if (then < r->last)
		then = r->last; /* killed: the time after the last event is unknown */
	if (end < then || (state && state != base))
		end = then;
	thread->wall += span(r->first, end);
	thread->tail = (double)(then - r->last);
	clocks = state ? state_of(state, r->tid) : NULL;
	cpu = last_cpu_ns(t, r, clocks);
	thread->cpu_ns += cpu - (double)r->before_cpu_ns;
	tail_share(t, thread, clocks, cpu);
	thread->tail += (double)(end - then);
}

void calls_table_settle(struct calls_file_table *t, const struct calls_state *state,
                        const struct calls_state *base)
{
	opens_find(t);
	halves_count(t);
	vec_each (thread, &t->threads)
		thread_settle(t, thread, state, base);
}
