/* SPDX-License-Identifier: MIT */
/*
 * fast: the ways that all but a few events take, inline. One reading of the
 * clock, one load that tells whether the thread was switched, no call.
 *
 * A signal handler's hooks may run between any two instructions here. They keep
 * off the frame over `top`, which is read before the state says BUSY and is this
 * hook's until it writes it back; sums are added to in one instruction; the time of
 * the last event is moved by an exchange that shows whether someone else moved it
 * meanwhile. Uses: calls/thread.h.
 */
#ifndef ASSAY_RUNTIME_CALLS_FAST_H
#define ASSAY_RUNTIME_CALLS_FAST_H

#include "calls/thread.h"

/* One hook in so many measures itself. */
#define CALLS_SAMPLED 512u

static inline uint32_t calls_next_state(uint64_t now)
{
	/* The clock's low bits may have a rhythm of their own. */
	uint32_t mixed = (uint32_t)now * 0x9e3779b1u;

	return CALLS_READY + (mixed < UINT32_MAX / CALLS_SAMPLED);
}

/*
 * Moves the last event to `now`; *delta: ticks since then. False: hooks came between the
 * reading of the clock and here, which have charged up to an event of theirs.
 */
static inline bool calls_advance(struct assay_calls_thread *r, uint64_t now, uint64_t *delta)
{
	uint64_t last = *(volatile uint64_t *)&r->last;

	*delta = now - last;
	if (CALLS_UNLIKELY((int64_t)*delta < 0))
		return false;
	if (CALLS_UNLIKELY(calls_add_fetch_old(&r->last, *delta) != last)) {
		calls_add(&r->last, -*delta);
		return false;
	}
	return true;
}

static inline bool calls_disturbed(const struct calls_thread *t)
{
	return CALLS_UNLIKELY(*t->watch != t->seen) ||
	       CALLS_UNLIKELY(*(volatile uint32_t *)&calls_table.header->epoch != t->epoch);
}

static inline __attribute__((always_inline)) void
calls_push(struct calls_thread *t, struct calls_frame *top, struct assay_calls_node *node,
           uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	calls_add(&node->calls, 1);
	top++;
	top->node = node;
	top->sp = sp;
	top->net = 0;
	top->ra = ra;
	top->site = site;
	calls_barrier();
	calls_home(t)->top = top;
	t->record->current = calls_id(node);
	calls_barrier();
}

static inline __attribute__((always_inline)) void
calls_fast_enter(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	struct calls_thread *t = *port_self();
	struct calls_frame *top;
	struct assay_calls_node *parent, *node;
	struct assay_calls_thread *r;
	uint64_t now, delta;

	if (CALLS_UNLIKELY(t->state != CALLS_READY)) {
		calls_slow_enter(function, site, sp, ra, NULL, 0);
		return;
	}
	top = calls_home(t)->top;
	calls_barrier();
	t->state = CALLS_BUSY;
	calls_barrier();
	now = port_clock();
	if (CALLS_UNLIKELY(sp - t->low >= top->sp - t->low) &&
	    (sp != top->sp || !calls_inlined(top, function, site, sp, ra))) {
		calls_slow_enter(function, site, sp, ra, top, now);
		return;
	}
	r = t->record;
	if (calls_disturbed(t) || !calls_advance(r, now, &delta)) {
		calls_slow_enter(function, site, sp, ra, top, now);
		return;
	}
	parent = top->node;
	calls_add(&parent->net, delta);
	top->net += (int64_t)delta - t->outer;
	node = calls_node(parent->child[calls_way(function)]);
	if (CALLS_UNLIKELY(node->function != function)) {
		calls_miss_enter(function, site, sp, ra, top, now);
		return;
	}
	calls_push(t, top, node, site, sp, ra);
	t->state = calls_next_state(now);
}

static inline __attribute__((always_inline)) void calls_fast_exit(uint64_t function, uintptr_t site,
                                                                  uintptr_t sp, uintptr_t ra)
{
	struct calls_thread *t = *port_self();
	struct calls_frame *top;
	struct assay_calls_node *node;
	struct assay_calls_thread *r;
	uint64_t now, delta;
	int64_t net;

	if (CALLS_UNLIKELY(t->state != CALLS_READY)) {
		calls_slow_exit(function, site, sp, ra, NULL, 0);
		return;
	}
	top = calls_home(t)->top;
	calls_barrier();
	t->state = CALLS_BUSY;
	calls_barrier();
	now = port_clock();
	node = top->node;
	/*
	 * Below the entry's sp there may be an alloca; above it the hook was jumped to as the
	 * function's last deed, its frame gone already, and its caller's is the next.
	 */
	if (CALLS_UNLIKELY(node->function != function) ||
	    (CALLS_UNLIKELY(sp - t->low > top->sp - t->low) &&
	     (ra != site || sp - t->low > top[-1].sp - t->low))) {
		calls_slow_exit(function, site, sp, ra, top, now);
		return;
	}
	r = t->record;
	if (calls_disturbed(t) || !calls_advance(r, now, &delta)) {
		calls_slow_exit(function, site, sp, ra, top, now);
		return;
	}
	calls_add(&node->net, delta);
	net = top->net + (int64_t)delta - t->inner;
	if (net < node->min)
		node->min = net;
	if (net > node->max)
		node->max = net;
	calls_barrier();
	calls_home(t)->top = top - 1;
	r->current = calls_id(top[-1].node);
	calls_barrier();
	t->state = calls_next_state(now);
}

#endif
