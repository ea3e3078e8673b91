/* SPDX-License-Identifier: MIT */
/*
 * stack: the open calls of a thread, a stack of frames for each stack that the
 * program runs on, held against the stack pointer.
 *
 *	frames[0]   a mark: the path in which the stack was entered
 *	frames[1]   the outermost call on it, highest sp
 *	...
 *	top         the innermost
 *
 * A hook interrupted by a signal whose handler has hooks: its frame may be half
 * written, so the handler's begin above it, with a mark that remembers the top.
 *	top, [the interrupted hook's], [a gap], mark, the handler's calls...
 */
#include "calls/thread.h"

/* Frames beyond the limit of depth, for marks. */
#define SLACK 4096u

static size_t frames_bytes(void)
{
	return ((size_t)calls_table.depth_limit + SLACK) * sizeof(struct calls_frame);
}

static bool stack_open(struct calls_stack *s, const struct port_stack *bounds)
{
	if (!s->frames) {
		struct calls_frame *memory = port_memory(frames_bytes());

		if (!memory)
			return false;
		/* An exit that meets the mark looks at what is below it. */
		s->frames = memory + 1;
	}
	s->low = bounds->low;
	s->high = bounds->high;
	s->signal = bounds->signal;
	s->top = s->frames;
	s->frames[0] = s->frames[-1] = (struct calls_frame){.ra = CALLS_MARK};
	return true;
}

bool calls_stacks_begin(struct calls_thread *t, uintptr_t sp)
{
	struct calls_home *home = calls_home(t);
	struct port_stack bounds;

	if (!port_stack_of(t, sp, &bounds))
		bounds = (struct port_stack){.low = 1, .high = UINTPTR_MAX, .signal = false};
	for (uint32_t i = 1; i < home->stack_count; i++)
		home->stacks[i].low = home->stacks[i].high = 0;
	home->stack = 0;
	home->stack_count = 1;
	if (!stack_open(&home->stacks[0], &bounds))
		return false;
	/* Nothing below returns into this mark: calls over it need no second look. */
	home->stacks[0].frames[0].sp = bounds.high;
	home->stacks[0].frames[0].node = calls_node(t->record->root);
	home->top = home->stacks[0].frames;
	t->low = bounds.low;
	return true;
}

struct calls_frame *calls_frame_below(struct calls_thread *t, struct calls_frame *f)
{
	if (f == calls_stack(t)->frames)
		return NULL;
	return calls_is_mark(f) ? (struct calls_frame *)f->site : f - 1;
}

static bool inside(const struct calls_stack *s, uintptr_t sp)
{
	return sp - s->low < s->high - s->low;
}

/* Where readers find what is open on a stack that is not the current one. */
static void publish(struct calls_thread *t, uint32_t index, uint32_t node)
{
	struct assay_calls_thread *r = t->record;

	if (index >= ASSAY_CALLS_STACKS_MAX)
		return;
	r->stacks[index] = node;
	if (r->stack_count <= index)
		r->stack_count = index + 1;
}

static void switch_to(struct calls_thread *t, uint32_t index)
{
	struct calls_home *home = calls_home(t);
	struct calls_stack *from = &home->stacks[home->stack], *to = &home->stacks[index];

	from->top = home->top;
	publish(t, home->stack, from->top == from->frames ? 0 : calls_id(from->top->node));
	if (to->top == to->frames && index != 0)
		to->frames[0].node = home->top->node;
	home->stack = index;
	home->top = to->top;
	t->low = to->low;
	to->used = ++home->turn;
	publish(t, index, 0);
}

/*
 * A hook that was interrupted writes its stack's top when it goes on, whatever stack
 * the handler ran on. That stack is the current one, and the handler is over.
 */
void calls_stack_right(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct calls_stack *s = &home->stacks[home->stack];
	size_t bytes = frames_bytes();

	if ((uintptr_t)home->top - (uintptr_t)s->frames < bytes)
		return;
	s->top = s->frames;
	for (uint32_t i = 0; i < home->stack_count; i++)
		if ((uintptr_t)home->top - (uintptr_t)home->stacks[i].frames < bytes)
			home->stack = i;
	t->low = home->stacks[home->stack].low;
}

/* A place for one more stack: free, or the one that was left longest ago. */
static uint32_t place(struct calls_thread *t, struct port_stack *bounds, uintptr_t sp)
{
	struct calls_home *home = calls_home(t);
	struct calls_stack *current = &home->stacks[home->stack];
	uint32_t best = 0;

	/* Where bounds are guessed at, they may reach into the stack that is left. */
	if (sp < current->low && bounds->high > current->low)
		bounds->high = current->low;
	if (sp >= current->high && bounds->low < current->high)
		bounds->low = current->high;
	for (uint32_t i = 1; i < home->stack_count; i++) {
		struct calls_stack *s = &home->stacks[i];

		if (i == home->stack)
			continue;
		/* Its memory is another stack's now. */
		if (s->low < bounds->high && bounds->low < s->high)
			s->low = s->high = 0;
		if (!s->high)
			return i;
	}
	if (home->stack_count < CALLS_STACKS)
		return home->stack_count++;
	for (uint32_t i = 1; i < home->stack_count; i++)
		if (i != home->stack && (!best || home->stacks[i].used < home->stacks[best].used))
			best = i;
	calls_flag(ASSAY_CALLS_STACKS);
	__atomic_fetch_add(&calls_table.header->nested_stacks, 1, __ATOMIC_RELAXED);
	return best;
}

bool calls_stack_select(struct calls_thread *t, uintptr_t sp, bool may_be_new)
{
	struct calls_home *home = calls_home(t);
	struct port_stack bounds;
	uint32_t index;

	if (inside(&home->stacks[home->stack], sp))
		return true;
	for (uint32_t i = 0; i < home->stack_count; i++)
		if (home->stacks[i].high && inside(&home->stacks[i], sp)) {
			switch_to(t, i);
			return true;
		}
	if (!may_be_new || !port_stack_of(t, sp, &bounds))
		return false;
	index = place(t, &bounds, sp);
	if (!stack_open(&home->stacks[index], &bounds)) {
		home->stacks[index].low = home->stacks[index].high = 0;
		return false;
	}
	switch_to(t, index);
	return true;
}

void calls_stack_mark(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct calls_frame *top = home->top, *mark = top + 3;
	/* Exits that meet either of the two go the slow way. */
	struct calls_frame gap = {.node = top->node, .ra = CALLS_MARK};

	top[2] = gap;
	top[2].site = (uintptr_t)top;
	*mark = top[2];
	calls_barrier();
	home->top = mark;
}

bool calls_inlined(const struct calls_frame *top, const struct calls_frame *call, uint64_t function)
{
	const struct calls_frame *f = top;
	uint64_t own;

	if (call->site != top->site || calls_is_mark(top))
		return false;
	/* Told from one place of the code twice: the first is dead, as it cannot hold itself. */
	for (; f->sp == call->sp && !calls_is_mark(f); f--)
		if (f->ra == call->ra)
			return false;
	/*
	 * A function that stands by itself tells its entry within its first bytes: then it
	 * was called where a dead one had been, unless the function around begins in between.
	 */
	own = f[1].node->function & ASSAY_FN_ADDRESS;
	return call->ra - function >= 128 || (function < own && own <= call->ra);
}

void calls_frame_end(struct calls_thread *t, struct calls_frame *f)
{
	struct assay_calls_node *node = f->node;

	if (calls_is_mark(f) || (node->function & ASSAY_FN_ADDRESS) == ASSAY_FN_OTHER)
		return;
	if (f->net < node->min)
		node->min = f->net;
	if (f->net > node->max)
		node->max = f->net;
}

void calls_stack_drop(struct calls_thread *t, struct calls_frame *to)
{
	struct calls_frame *f = calls_home(t)->top;
	uint64_t count = 0;

	for (; f && f != to; f = calls_frame_below(t, f)) {
		calls_frame_end(t, f);
		count += !calls_is_mark(f);
	}
	calls_home(t)->top = to;
	if (!count)
		return;
	calls_flag(ASSAY_CALLS_RESYNCED);
	__atomic_fetch_add(&calls_table.header->resyncs, count, __ATOMIC_RELAXED);
}

/*
 * `from`: where the new call is told from, its sp, or the place of its return address. A
 * live frame's sp is more than that.
 */
static struct calls_frame *above(struct calls_thread *t, uintptr_t from,
                                 const struct calls_frame *call, uint64_t function)
{
	struct calls_frame *f = calls_home(t)->top, *below;

	for (;; f = below) {
		below = calls_frame_below(t, f);
		if (!below)
			return f;
		if (calls_is_mark(f)) {
			/* A handler's, unless what it interrupted is dead itself. */
			if (calls_is_mark(below) || from < below->sp)
				return f;
			continue;
		}
		if (from < f->sp || (call->sp == f->sp && calls_inlined(f, call, function)))
			return f;
	}
}

struct calls_frame *calls_stack_above(struct calls_thread *t, const struct calls_frame *call,
                                      uint64_t function)
{
	return above(t, call->sp, call, function);
}

/* Frames larger than this are not searched for their return address. */
#define FRAME_MOST (64u << 10)

struct calls_frame *calls_stack_above_jump(struct calls_thread *t, const struct calls_frame *call,
                                           uint64_t function)
{
	const struct calls_stack *s = calls_stack(t);
	uintptr_t slot = call->sp, end = s->high - slot > FRAME_MOST ? slot + FRAME_MOST : s->high;

	/* The bounds are the stack's own: all from sp up is mapped. Of unknown ones, nothing is. */
	if (s->high == UINTPTR_MAX)
		end = slot;
	while (slot < end && *(const uintptr_t *)slot != call->site)
		slot += sizeof(slot);
	return above(t, slot < end ? slot : call->sp, call, function);
}

struct calls_frame *calls_stack_ended(struct calls_thread *t, uint64_t function, uintptr_t sp,
                                      uintptr_t ra, uintptr_t site)
{
	struct calls_frame *f = calls_home(t)->top, *below;

	for (; (below = calls_frame_below(t, f)); f = below) {
		bool same, last_deed;

		if (calls_is_mark(f))
			continue;
		same = (f->node->function & ~ASSAY_FN_INHERITED) == function ||
		       (f->node->function == ASSAY_FN_OTHER && f->site == function);
		last_deed = ra == site && (calls_is_mark(below) || sp <= below->sp);
		if (same && (sp <= f->sp || last_deed))
			return f;
		/* Older and alive: the one that exits was entered unseen. */
		if (f->sp > sp)
			return NULL;
	}
	return NULL;
}
