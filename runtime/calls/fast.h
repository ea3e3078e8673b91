/* SPDX-License-Identifier: MIT */
/*
 * fast: the inline paths that handle almost all events. They load the words that show whether the
 * thread was switched or sampled, and call no function.
 *
 * Two paths are made of the same parts. A thread whose CPU time is sampled counts (state READY) and
 * does not read the clock: `now` is 0. In a window of some events, and in a thread that is not
 * sampled, the state is TIMED and each hook reads the clock once (slow.c).
 *
 * A signal handler's hooks may run between any two instructions of this path. Three rules keep the
 * data consistent. The handler's hooks do not write the frame above `top`: the hook reads `top`
 * before it sets the state to BUSY, and owns that frame until it writes `top` back. Sums grow by
 * single instructions. A compare-and-exchange moves the time of the last event, and fails if a
 * handler's hook has moved it. Uses: calls/thread.h.
 */
#ifndef ASSAY_RUNTIME_CALLS_FAST_H
#define ASSAY_RUNTIME_CALLS_FAST_H

#include "calls/thread.h"

/* One hook in this many measures its own duration. */
#define CALLS_SAMPLED 512u

/*
 * About one call in this many begins a window. The number of calls between two of them is random,
 * so that calls that repeat in a pattern are all chosen equally often.
 */
#define CALLS_WINDOWS 4096u
/*
 * The first calls of each path begin a short window, so that rare calls are timed. The path is not
 * in its parent's cache until then, so the usual path need not compare the number.
 */
#define CALLS_RARE 3u

static inline uint32_t calls_mix(uint64_t value)
{
	return (uint32_t)value * 0x9e3779b1u;
}

static inline uint32_t calls_random(uint32_t state)
{
	return state * 1664525 + 1013904223;
}

/* End of the hook. */
static inline __attribute__((always_inline)) void calls_leave(struct calls_thread *t, uint64_t now)
{
	calls_barrier();
	if (!now) {
		t->state = CALLS_READY;
		return;
	}
	if (t->samples) {
		calls_window_step(t, now);
		t->state = t->rest;
		return;
	}
	/* The clock's low bits may repeat in a regular pattern, so the hash mixes all bits. */
	t->state = calls_mix(now) < UINT32_MAX / CALLS_SAMPLED ? CALLS_SAMPLE : CALLS_TIMED;
}

/*
 * Sets the time of the last event to `now`. *delta: ticks since the previous event. False: a
 * handler's hooks ran after the clock was read, and have charged the time up to their own last
 * event.
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

/*
 * The time since the hook read the clock is own cost. After a switch the next event charges it, and
 * if a handler's hooks ran in between, they have.
 */
static inline void calls_own_since(struct calls_thread *t, uint64_t from)
{
	struct assay_calls_thread *r = t->record;
	uint64_t now = port_clock_ordered(), delta;

	if (CALLS_LIKELY(*t->watch == t->seen) &&
	    CALLS_LIKELY(*(volatile uint64_t *)&r->last == from) &&
	    CALLS_LIKELY(calls_advance(r, now, &delta)))
		calls_add(&r->own, delta & t->charge);
}

/*
 * Makes the frame above `top` the top frame, with node `node`. `cached`: the node is in its
 * parent's cache.
 */
static inline __attribute__((always_inline)) void
calls_fast_push(struct calls_thread *t, struct calls_frame *top, struct assay_calls_node *node,
                uint32_t id, bool cached, uint64_t now)
{
	calls_add(&node->calls, 1);
	top[1].node = node;
	top[1].net = now ? CALLS_NET_TIMED : CALLS_UNTIMED;
	t->record->current = id;
	calls_barrier();
	calls_home(t)->top = top + 1;
	if (!now &&
	    (CALLS_UNLIKELY(--t->until_window < 0) || (!cached && node->calls <= CALLS_RARE))) {
		calls_window_begin(t);
		return;
	}
	calls_leave(t, now);
}

/* Completes an entry. The frame above `top` already has the call's sp, ra and site. */
static inline __attribute__((always_inline)) void
calls_fast_place(struct calls_thread *t, uint64_t function, struct calls_frame *top, uint64_t now)
{
	struct assay_calls_node *parent = top->node, *node;
	uint64_t delta;
	uint32_t id;

	if (CALLS_UNLIKELY(now ? calls_disturbed(t) : calls_sampled(t)) ||
	    (now && CALLS_UNLIKELY(!calls_advance(t->record, now, &delta)))) {
		calls_slow_enter(function, top, now);
		return;
	}
	if (now) {
		calls_add(&parent->net, (delta - t->outer_cost) & t->charge);
		calls_add(&t->record->own, t->outer_cost);
		top->net += (int64_t)delta - t->outer;
	}
	id = parent->child[calls_way(function)];
	node = calls_node(id);
	if (CALLS_UNLIKELY(node->function != function)) {
		calls_miss_enter(function, top, now);
		return;
	}
	calls_fast_push(t, top, node, id, true, now);
}

/*
 * An entry. sp, ra and site are written into the frame above the top at once. The hook owns that
 * frame as soon as the state is BUSY, and the slow paths read the values there. All slow paths are
 * tail calls, so that no register has to be saved.
 */
static inline __attribute__((always_inline)) void calls_enter(struct calls_thread *t, bool timed,
                                                              uint64_t function, uintptr_t site,
                                                              uintptr_t sp, uintptr_t ra)
{
	struct calls_frame *top = calls_home(t)->top;
	uint64_t now;

	calls_barrier();
	t->state = CALLS_BUSY;
	calls_barrier();
	top[1].sp = sp;
	top[1].ra = ra;
	top[1].site = site;
	now = timed ? port_clock_ordered() : 0;
	if (CALLS_UNLIKELY(sp >= top->sp) || CALLS_UNLIKELY(sp < t->low)) {
		calls_edge_enter(function, top, now);
		return;
	}
	calls_fast_place(t, function, top, now);
}

static inline __attribute__((always_inline)) void
calls_fast_enter(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	struct calls_thread *t = *port_self();

	if (CALLS_LIKELY(t->state == CALLS_READY))
		calls_enter(t, false, function, site, sp, ra);
	else
		calls_unready_enter(function, site, sp, ra);
}

static inline __attribute__((always_inline)) void calls_exit(struct calls_thread *t, bool timed,
                                                             uint64_t function, uintptr_t site,
                                                             uintptr_t sp, uintptr_t ra)
{
	struct calls_frame *top = calls_home(t)->top;
	struct assay_calls_node *node;
	struct assay_calls_thread *r;
	uint64_t now, delta;

	calls_barrier();
	t->state = CALLS_BUSY;
	calls_barrier();
	now = timed ? port_clock_ordered() : 0;
	node = top->node;
	/*
	 * An exit's sp differs from the entry's sp in three cases. It is lower after an alloca. It
	 * is higher if the function jumped to the hook as its last action, after its frame was
	 * released (then ra is site), or if arguments of a call that lay on the stack at the entry
	 * have been removed. In these cases the site is equal, and sp does not reach the caller's
	 * frame.
	 */
	if (CALLS_UNLIKELY(node->function != function) ||
	    (sp != top->sp && (CALLS_UNLIKELY(sp < t->low) ||
	                       (sp > top->sp && CALLS_UNLIKELY(site != top->site ||
	                                                       sp + (ra != site) > top[-1].sp)))))
		goto slow;
	r = t->record;
	if (CALLS_UNLIKELY(timed ? calls_disturbed(t) : calls_sampled(t)) ||
	    (timed && (CALLS_UNLIKELY(r->epoch == ASSAY_CALLS_RESTART) ||
	               CALLS_UNLIKELY(!calls_advance(r, now, &delta)))))
		goto slow;
	if (timed) {
		calls_add(&node->net, (delta - t->inner_cost) & t->charge);
		calls_add(&r->own, t->inner_cost);
		top->net += (int64_t)delta - t->inner;
		/* If the thread is sampled, the end of the hook charges the time (window.c). */
		if (CALLS_UNLIKELY(calls_frame_end(t, top)) && !t->samples) {
			r->slow++;
			calls_own_since(t, now);
		}
	}
	r->current = node->parent; /* the node of top[-1] */
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

static inline __attribute__((always_inline)) void calls_fast_exit(uint64_t function, uintptr_t site,
                                                                  uintptr_t sp, uintptr_t ra)
{
	struct calls_thread *t = *port_self();

	if (CALLS_LIKELY(t->state == CALLS_READY))
		calls_exit(t, false, function, site, sp, ra);
	else
		calls_unready_exit(function, site, sp, ra);
}

#endif
