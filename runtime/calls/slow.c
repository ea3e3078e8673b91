/* SPDX-License-Identifier: MIT */
/*
 * slow: the events that the fast path cannot handle: the thread's first event, a hook that a signal
 * interrupted, a thread switch, calls that ended without an exit, other stacks, new paths, resets,
 * and sampled hooks.
 *
 * Signals are held in these functions, so that no handler changes the tree at the same time. Their
 * duration is measured and added to the record's `own`, and to no function.
 */
#include "calls/calls.h"
#include "calls/fast.h"

/* Ticks. A longer reading was disturbed by an interrupt or a page fault, and is discarded. */
#define SAMPLE_MOST 8192u

static inline void fence(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
}

static void restart(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	uint32_t epoch = __atomic_load_n(&calls_table.header->epoch, __ATOMIC_ACQUIRE);

	calls_tree_restart(t);
	for (struct calls_frame *f = home->top; f; f = calls_frame_below(t, f))
		f->net = t->charge ? CALLS_NET_TIMED : CALLS_UNTIMED;
	t->chosen = NULL;
	t->record->epoch = epoch;
}

/*
 * Charges the time since the last event: waiting to the innermost open call, the rest to its net
 * or, with `own`, to the own cost.
 */
static void settle(struct calls_thread *t, uint64_t *now, bool own)
{
	struct assay_calls_thread *r = t->record;
	struct calls_frame *top = calls_home(t)->top;
	uint64_t seen = *t->watch, delta, sampling;
	struct port_waits w = {0};

	/*
	 * Compiler barrier: the load of the watch word stays before the reading of the clock. A
	 * switch after the load changes the word again, so the next event sees it.
	 */
	calls_barrier();
	if (seen != t->seen || !*now)
		*now = port_clock();
	delta = *now - r->last;
	if (seen != t->seen) {
		struct assay_calls_wait *wait;

		port_thread_waits(t, r->last, *now, &w);
		*now += w.late;
		delta += w.late;
		t->seen = w.is_out ? ~seen : seen;
		if (w.blocked || w.preempted) {
			wait = calls_tree_wait(t, top->node);
			calls_add(&wait->blocked, w.blocked);
			calls_add(&wait->preempted, w.preempted);
			calls_add(&wait->blocked_count, w.blocked_count);
			calls_add(&wait->preempted_count, w.preempted_count);
			calls_add(&wait->settled, w.settled);
			delta -= w.blocked + w.preempted;
		}
		if (w.overflowed)
			calls_flag(ASSAY_CALLS_SETTLED);
	}
	r->last = *now;
	if (*t->sampled != t->sampled_seen) {
		sampling = calls_sampling_settle(t, own);
		sampling = sampling < delta ? sampling : delta;
		calls_add(&r->own, sampling);
		delta -= sampling;
	}
	if (own) {
		calls_add(&r->own, delta & t->charge);
		return;
	}
	calls_add(&top->node->net, delta & t->charge);
	top->net += (int64_t)delta;
}

void calls_settle(struct calls_thread *t, uint64_t *now)
{
	settle(t, now, false);
}

/* Starts a slow event: holds signals. Handlers that interrupted this hook earlier have returned. */
static uint64_t begin(struct calls_thread *t, struct calls_frame *top, uint64_t *now)
{
	uint64_t held = port_signals_hold();

	t->state = CALLS_BUSY;
	calls_home(t)->top = top;
	calls_stack_right(t);
	/* The clock may have been read before a switch, or before a handler's hooks ran. */
	if (!*now || *t->watch != t->seen || (int64_t)(*now - t->record->last) < 0)
		*now = port_clock();
	return held;
}

/*
 * Adds `ticks`, from the last event `last` on, to the own cost. If a handler's hooks have moved
 * `last`, they have charged the time up to their last event, and the next event charges the rest.
 * `charge`: the thread's; a sampled thread's own cost comes from its samples.
 */
static void charge_own(struct assay_calls_thread *r, uint64_t last, uint64_t ticks, uint64_t charge)
{
	if (__atomic_compare_exchange_n(&r->last, &last, last + ticks, false, __ATOMIC_RELAXED,
	                                __ATOMIC_RELAXED))
		calls_add(&r->own, ticks & charge);
}

/*
 * Ends a slow event: its whole duration is own cost. A handler may run when signals are released.
 * Its calls lie above a mark. After it has returned, `top` is the top frame again and the mark is
 * removed.
 */
static void end(struct calls_thread *t, uint64_t held, uint64_t from)
{
	struct calls_frame *top = calls_home(t)->top;
	struct assay_calls_thread *r = t->record;
	uint64_t last, seen, took;

	r->slow++;
	/*
	 * The thread may be switched out here, since growing a hash table may take more than a time
	 * slice. ~seen: it was switched out before, so each event queries the port.
	 */
	seen = *t->watch;
	if (seen != t->seen && seen != ~t->seen && r->last == from) {
		from = 0;
		settle(t, &from, true);
	}
	last = r->last;
	port_signals_release(held);
	took = port_clock() - from;
	/* If the thread was switched out, the next event charges the time. */
	if (last == from && *t->watch == t->seen)
		charge_own(r, last, took, t->charge);
	if (*t->sampled != t->sampled_seen)
		calls_sampling_settle(t, true);
	calls_home(t)->top = top;
	calls_barrier();
	t->state = t->rest;
}

/* True for the frame of a call that is counted in (other). The calls within it get no frames. */
static bool is_other(const struct calls_frame *f)
{
	return f->node->function == ASSAY_FN_OTHER && !calls_is_mark(f);
}

/* Counts a call within (other). It gets no frame, so the depth does not matter. */
static void enter_other(struct calls_frame *top, uint64_t function)
{
	calls_add(&top->node->calls, 1);
	__atomic_fetch_add(&calls_table.header->other_calls, 1, __ATOMIC_RELAXED);
	if (top->site == function)
		top->ra += 2; /* +2 keeps `ra` even, so that it never equals CALLS_MARK */
}

/* Pushes a frame for the call, with node `node`. */
static void push(struct calls_thread *t, struct assay_calls_node *node,
                 const struct calls_frame *call)
{
	struct calls_frame *top = calls_home(t)->top + 1;

	calls_add(&node->calls, 1);
	*top = *call;
	top->node = node;
	top->net = calls_net_begin(t);
	t->record->current = calls_id(node);
	calls_barrier();
	calls_home(t)->top = top;
	calls_barrier();
}

static void place(struct calls_thread *t, uint64_t function, const struct calls_frame *call)
{
	struct calls_frame *top = calls_home(t)->top, other;
	struct assay_calls_node *node;

	if (is_other(top)) {
		enter_other(top, function);
		return;
	}
	node = calls_tree_child(t, top->node, function);
	if (node->function != ASSAY_FN_OTHER) {
		push(t, node, call);
		return;
	}
	other = (struct calls_frame){.sp = call->sp, .site = function};
	push(t, node, &other);
	__atomic_fetch_add(&calls_table.header->other_calls, 1, __ATOMIC_RELAXED);
}

/*
 * Predicts the node: the sibling that followed the previous call the last time. The frame above the
 * top still has the node of the previous call. Calls of a node with many children often repeat in
 * the same order.
 */
static struct assay_calls_node *expected(struct calls_frame *top, uint64_t function)
{
	struct assay_calls_node *before = top[1].node, *node;
	uint32_t parent = calls_id(top->node);

	if (!before || before->parent != parent)
		return NULL;
	node = calls_node(before->next);
	if (node->function != function || node->parent != parent)
		return NULL;
	__builtin_prefetch(calls_node(node->next), 1);
	return node;
}

/*
 * Finds the node in the hash, and stores it as the successor of the sibling that was called before.
 */
static struct assay_calls_node *found(struct calls_thread *t, struct calls_frame *top,
                                      uint64_t function)
{
	struct assay_calls_node *before = top[1].node;
	struct assay_calls_node *node = calls_tree_find(t, top->node, function);

	if (node && before && before->parent == node->parent)
		before->next = calls_id(node);
	return node;
}

void calls_miss_enter(uint64_t function, struct calls_frame *top, uint64_t now)
{
	struct calls_thread *t = *port_self();
	struct assay_calls_node *node;
	struct calls_frame call;
	uint64_t held;

	if (CALLS_UNLIKELY(is_other(top)) && port_wants(function)) {
		enter_other(top, function);
		calls_home(t)->top = top;
		calls_leave(t, now);
		return;
	}
	node = expected(top, function);
	if (CALLS_UNLIKELY(!node))
		node = found(t, top, function);
	if (CALLS_LIKELY(node)) {
		calls_fast_push(t, top, node, calls_id(node), false, now);
		return;
	}
	call = top[1];
	calls_home(t)->top = top;
	if (!port_wants(function)) {
		t->state = t->rest;
		return;
	}
	held = begin(t, top, &now);
	place(t, function, &call);
	end(t, held, now);
}

/* Counts an event as lost: there is no table, or the table had no room for the thread. */
static void lose(void)
{
	struct assay_calls_header *h = calls_table.header;

	/* In a forked child without a table, the header is the parent's. */
	if (!h || !port_began())
		return;
	calls_flag(ASSAY_CALLS_LOST);
	__atomic_fetch_add(&h->lost_events, 1, __ATOMIC_RELAXED);
}

/*
 * Called when the state is not READY. Makes the thread READY if possible. True: the caller repeats
 * the event. BUSY means that this event comes from a signal handler that interrupted a hook, or
 * from code after a handler that jumped away.
 */
static bool ready(struct calls_thread *t, uintptr_t sp)
{
	uint64_t held;

	if (t->state == CALLS_OFF || (t->state == CALLS_BUSY && !calls_stack_may_mark(t, sp))) {
		lose();
		return false;
	}
	held = port_signals_hold();
	t = *port_self();
	if (t->state == CALLS_UNBORN)
		t = calls_thread_start(sp);
	else if (t->state == CALLS_BUSY)
		t->state = calls_stack_mark(t) ? CALLS_JUMPED : t->rest;
	else if (t->state == CALLS_SAMPLE)
		t->state = t->rest;
	port_signals_release(held);
	return t->state != CALLS_OFF;
}

/*
 * A hook that measures itself. `tell` handles the event on the usual path. While the state is BUSY,
 * a handler's hooks push a mark first; if the handler forks, the child finds the record as it is
 * here.
 */
static void sample(struct calls_thread *t, bool enter, uint64_t function, uintptr_t site,
                   uintptr_t sp, uintptr_t ra,
                   void (*tell)(uint64_t, uintptr_t, uintptr_t, uintptr_t))
{
	struct calls_frame *top = calls_home(t)->top;
	uint64_t slow, start, from, took, last;
	struct assay_calls_thread *r;
	struct assay_calls_sample *s;
	uint32_t state;

	t->state = CALLS_BUSY;
	calls_barrier();
	r = t->record;
	slow = r->slow;
	last = *(volatile uint64_t *)&r->last;
	start = port_clock();
	fence();
	from = port_clock();
	if (*t->watch == t->seen)
		charge_own(r, last, from - start, t->charge);
	calls_home(t)->top = top;
	calls_barrier();
	t->state = t->rest;
	tell(function, site, sp, ra);
	fence();
	took = port_clock() - from;
	top = calls_home(t)->top;
	state = t->state;
	if (!calls_rests(t))
		return;
	t->state = CALLS_BUSY;
	calls_barrier();
	s = enter ? &r->enter : &r->exit;
	/*
	 * The record differs if a handler forked while the state was READY and this is the child.
	 */
	if (t->record == r && took <= SAMPLE_MOST && r->slow == slow) {
		calls_add(&s->count, 1);
		calls_add(&s->sum, took);
		calls_add(&s->squares, took * took);
	}
	if (t->record == r && *t->watch == t->seen) {
		last = *(volatile uint64_t *)&r->last;
		/* A handler's hooks may have charged a part of this time. */
		if ((int64_t)(last - from - took) < 0)
			from += took;
		else
			from = last;
		charge_own(r, last, port_clock() - from, t->charge);
	}
	calls_home(t)->top = top;
	calls_barrier();
	t->state = state;
}

static void tell_enter(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	calls_fast_enter(function, site, sp, ra);
}

static void tell_exit(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	calls_fast_exit(function, site, sp, ra);
}

void calls_jumped(void)
{
	struct calls_thread *t = *port_self();

	if (calls_rests(t))
		t->state = CALLS_JUMPED;
	else if (t->state == CALLS_BUSY)
		calls_home(t)->jumped = true;
}

void calls_stack_made(uintptr_t low, uintptr_t high, uintptr_t sp)
{
	struct calls_thread *t = *port_self();
	uint32_t state = t->state;
	uint64_t held, now = 0;

	if (!calls_rests(t) && state != CALLS_JUMPED)
		return;
	if (!calls_stack_encloses(t, low, high))
		return;
	held = begin(t, calls_home(t)->top, &now);
	/*
	 * The last event may have been on another stack. The time since then belongs to that
	 * event's call.
	 */
	calls_settle(t, &now);
	if (calls_stack_select(t, sp, false))
		calls_stack_hold(t, low, high);
	end(t, held, now);
	if (state == CALLS_JUMPED)
		t->state = state;
}

/*
 * After a jump off a signal stack, no call on that stack continues. Calls on a coroutine's stack
 * may continue after a jump.
 */
static void leave_signal(struct calls_thread *t, uintptr_t sp)
{
	struct calls_stack *s = calls_stack(t);

	if (s->signal && sp - s->low >= s->high - s->low)
		calls_stack_drop(t, s->frames);
}

static void slow_enter(struct calls_thread *t, uint64_t function, struct calls_frame *top,
                       const struct calls_frame *call, bool jumped, uint64_t now)
{
	struct calls_frame *above;
	uint64_t held = begin(t, top, &now);

	calls_settle(t, &now);
	if (jumped)
		leave_signal(t, call->sp);
	calls_stack_select(t, call->sp, true);
	above = calls_stack_above(t, call, function, jumped);
	if (above != calls_home(t)->top)
		calls_stack_drop(t, above);
	if (port_wants(function)) {
		calls_home(t)->top->net -= t->outer;
		place(t, function, call);
	}
	end(t, held, now);
}

/*
 * True in the child of a fork if a handler forked after the hook had seen the state READY. The
 * caller repeats the event.
 */
static bool is_forked(struct calls_thread *t)
{
	if (CALLS_LIKELY(port_began()))
		return false;
	t->state = CALLS_UNBORN;
	return true;
}

void calls_slow_enter(uint64_t function, struct calls_frame *top, uint64_t now)
{
	struct calls_thread *t = *port_self();
	struct calls_frame call = top[1];

	if (is_forked(t))
		calls_unready_enter(function, call.site, call.sp, call.ra);
	else
		slow_enter(t, function, top, &call, false, now);
}

void calls_edge_enter(uint64_t function, struct calls_frame *top, uint64_t now)
{
	struct calls_thread *t = *port_self();

	if (top[1].sp == top->sp && calls_inlined(top, top + 1))
		calls_fast_place(t, function, top, now);
	else
		calls_slow_enter(function, top, now);
}

void calls_unready_enter(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	struct calls_frame call = {.sp = sp, .ra = ra, .site = site};
	struct calls_thread *t = *port_self();

	if (CALLS_LIKELY(t->state == CALLS_TIMED))
		calls_enter(t, true, function, site, sp, ra);
	else if (t->state == CALLS_JUMPED)
		slow_enter(t, function, calls_home(t)->top, &call, true, 0);
	else if (t->state == CALLS_SAMPLE)
		sample(t, true, function, site, sp, ra, tell_enter);
	else if (ready(t, sp))
		calls_fast_enter(function, site, sp, ra);
}

static void exit_frame(struct calls_thread *t, struct calls_frame *f)
{
	if (f != calls_home(t)->top)
		calls_stack_drop(t, f);
	if (f->node->function == ASSAY_FN_OTHER && f->ra) {
		f->ra -= 2;
		return;
	}
	f->net -= t->inner;
	calls_frame_end(t, f);
	calls_home(t)->top = f - 1;
	t->record->current = calls_id(f[-1].node);
}

static void unmatched(struct calls_thread *t, uintptr_t sp)
{
	struct calls_frame *top = calls_home(t)->top;

	/* Calls within (other) have no frame, so their exits match no frame. */
	if (is_other(top) && sp <= top->sp)
		return;
	calls_flag(ASSAY_CALLS_UNMATCHED);
	__atomic_fetch_add(&calls_table.header->unmatched_exits, 1, __ATOMIC_RELAXED);
}

static void slow_exit(struct calls_thread *t, uint64_t function, struct calls_frame *top,
                      const struct calls_frame *ending, bool jumped, uint64_t now)
{
	struct calls_frame *f = NULL;
	uint64_t held;

	if (!port_wants(function)) {
		t->state = t->rest;
		return;
	}
	held = begin(t, top, &now);
	/*
	 * The reset comes before the charge, so that the time since the last event counts after the
	 * reset.
	 */
	if (t->record->epoch == ASSAY_CALLS_RESTART)
		restart(t);
	calls_settle(t, &now);
	if (calls_stack_select(t, ending->sp, false))
		f = calls_stack_ended(t, function, ending, jumped);
	if (f)
		exit_frame(t, f);
	else
		unmatched(t, ending->sp);
	end(t, held, now);
}

void calls_unready_exit(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	struct calls_frame ending = {.sp = sp, .ra = ra, .site = site};
	struct calls_thread *t = *port_self();

	if (CALLS_LIKELY(t->state == CALLS_TIMED))
		calls_exit(t, true, function, site, sp, ra);
	else if (t->state == CALLS_JUMPED)
		slow_exit(t, function, calls_home(t)->top, &ending, true, 0);
	else if (t->state == CALLS_SAMPLE)
		sample(t, false, function, site, sp, ra, tell_exit);
	else if (t->state != CALLS_OFF && ready(t, sp))
		calls_fast_exit(function, site, sp, ra);
}

/*
 * The exit of a call within (other), without holding signals: if the table is full, these are most
 * events. False: another case.
 */
static bool exit_other(struct calls_thread *t, uint64_t function, struct calls_frame *top,
                       uint64_t now)
{
	struct assay_calls_thread *r = t->record;
	bool same = top->site == function;
	uint64_t delta;

	if (!is_other(top) || top[1].sp >= top->sp || top[1].sp < t->low || (same && !top->ra) ||
	    calls_disturbed(t) || r->epoch == ASSAY_CALLS_RESTART ||
	    (now && !calls_advance(r, now, &delta)))
		return false;
	if (now) {
		calls_add(&top->node->net, (delta - t->inner_cost) & t->charge);
		calls_add(&r->own, t->inner_cost);
		top->net += (int64_t)delta - t->inner;
	}
	if (same)
		top->ra -= 2;
	calls_home(t)->top = top;
	calls_leave(t, now);
	return true;
}

void calls_slow_exit(uint64_t function, struct calls_frame *top, uint64_t now)
{
	struct calls_thread *t = *port_self();
	struct calls_frame ending = top[1];

	if (is_forked(t))
		calls_unready_exit(function, ending.site, ending.sp, ending.ra);
	else if (!exit_other(t, function, top, now))
		slow_exit(t, function, top, &ending, false, now);
}
