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

/* The hook is over. */
static inline __attribute__((always_inline)) void calls_leave(struct calls_thread *t, uint64_t now)
{
	/* The clock's low bits may have a rhythm of their own. */
	uint32_t mixed = (uint32_t)now * 0x9e3779b1u;

	calls_barrier();
	if (CALLS_UNLIKELY(mixed < UINT32_MAX / CALLS_SAMPLED)) {
		t->state = CALLS_SAMPLE;
		return;
	}
	t->state = CALLS_READY;
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

/* The call over `top`, of a node, becomes the top. */
static inline __attribute__((always_inline)) void calls_fast_push(struct calls_thread *t,
                                                                  struct calls_frame *top,
                                                                  struct assay_calls_node *node,
                                                                  uint32_t id, uint64_t now)
{
	calls_add(&node->calls, 1);
	top[1].node = node;
	top[1].net = 0;
	t->record->current = id;
	calls_barrier();
	calls_home(t)->top = top + 1;
	calls_leave(t, now);
}

/* The rest of an entry whose place is known: over `top`, where sp, ra and site stand. */
static inline __attribute__((always_inline)) void
calls_fast_place(struct calls_thread *t, uint64_t function, struct calls_frame *top, uint64_t now)
{
	struct assay_calls_node *parent, *node;
	uint64_t delta;
	uint32_t id;

	if (CALLS_UNLIKELY(*t->watch != t->seen) ||
	    CALLS_UNLIKELY(!calls_advance(t->record, now, &delta))) {
		calls_slow_enter(function, top, now);
		return;
	}
	parent = top->node;
	calls_add(&parent->net, delta);
	top->net += (int64_t)delta - t->outer;
	id = parent->child[calls_way(function)];
	node = calls_node(id);
	if (CALLS_UNLIKELY(node->function != function)) {
		calls_miss_enter(function, top, now);
		return;
	}
	calls_fast_push(t, top, node, id, now);
}

/*
 * An entry. What tells the call apart is written into the frame over the top at once: it is
 * this hook's own as soon as the state says BUSY, and the other ways read it there. All of
 * them are taken by jumps, so that no register has to be kept.
 */
static inline __attribute__((always_inline)) void
calls_fast_enter(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	struct calls_thread *t = *port_self();
	struct calls_frame *top;
	uint64_t now;

	if (CALLS_UNLIKELY(t->state != CALLS_READY)) {
		calls_unready_enter(function, site, sp, ra);
		return;
	}
	top = calls_home(t)->top;
	calls_barrier();
	t->state = CALLS_BUSY;
	calls_barrier();
	top[1].sp = sp;
	top[1].ra = ra;
	top[1].site = site;
	now = port_clock();
	if (CALLS_UNLIKELY(sp >= top->sp) || CALLS_UNLIKELY(sp < t->low)) {
		calls_edge_enter(function, top, now);
		return;
	}
	calls_fast_place(t, function, top, now);
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
		calls_unready_exit(function, site, sp, ra);
		return;
	}
	top = calls_home(t)->top;
	calls_barrier();
	t->state = CALLS_BUSY;
	calls_barrier();
	now = port_clock();
	node = top->node;
	/*
	 * Below the entry's sp there may be an alloca. Above it, the hook was jumped to as the
	 * function's last action, with its frame gone (ra is site), or arguments of a call that
	 * lay on the stack at the entry are gone. The site is the same then, and the caller's
	 * frame is not reached.
	 */
	if (CALLS_UNLIKELY(node->function != function) || CALLS_UNLIKELY(sp < t->low) ||
	    (CALLS_UNLIKELY(sp > top->sp) &&
	     (site != top->site || sp + (ra != site) > top[-1].sp))) {
		goto slow;
	}
	r = t->record;
	if (CALLS_UNLIKELY(*t->watch != t->seen) ||
	    CALLS_UNLIKELY(r->epoch == ASSAY_CALLS_RESTART) ||
	    CALLS_UNLIKELY(!calls_advance(r, now, &delta))) {
		goto slow;
	}
	calls_add(&node->net, delta);
	net = top->net + (int64_t)delta - t->inner;
	if (CALLS_UNLIKELY(net < node->min))
		node->min = net;
	if (CALLS_UNLIKELY(net > node->max))
		node->max = net;
	r->current = calls_id(top[-1].node);
	calls_barrier();
	calls_home(t)->top = top - 1;
	calls_leave(t, now);
	return;
slow:
	top[1].sp = sp;
	top[1].ra = ra;
	top[1].site = site;
	calls_slow_exit(function, top, now);
}

#endif
