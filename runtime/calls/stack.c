/* SPDX-License-Identifier: MIT */
/*
 * stack: the open calls of a thread. Each stack that the program runs on has its own stack of
 * frames. Events are compared with the frames by the stack pointer.
 *
 *	frames[0]   a mark: the path in which the stack was entered
 *	frames[1]   the outermost call on it, highest sp
 *	...
 *	top         the innermost
 *
 * An inlined call has no physical frame: its hooks run in the frame of the function that contains
 * it, and report that function's return address as their site. The sp of two such events can differ
 * if arguments of an earlier call are still on the stack (GCC's -fdefer-pop). See docs/adr/0036.
 *
 * A signal handler with hooks may interrupt a hook whose frame is half written. The handler's
 * frames therefore begin above it, after a mark that stores the top:
 *	top, [the interrupted hook's], [a gap], mark, the handler's calls...
 */
#include "calls/thread.h"

/* Additional frames above the depth limit, for marks. */
#define SLACK 4096u
/*
 * Bytes at the end of the frames in which no mark is made, so that calls above the last mark have
 * room.
 */
#define MARK_ROOM (SLACK / 2 * sizeof(struct calls_frame))
/*
 * Limit of handlers that interrupted each other's hooks, within this many of the innermost frames.
 */
#define MARKS_MOST 8u
#define MARKS_WITHIN 1024u

static size_t frames_bytes(void)
{
	return ((size_t)calls_table.depth_limit + SLACK) * sizeof(struct calls_frame);
}

static void forget(struct calls_home *home, struct calls_stack *s)
{
	home->held -= s->holder != NULL;
	s->holder = NULL;
	s->low = s->high = 0;
}

void calls_stack_alone(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);

	for (uint32_t i = 0; i < home->stack_count; i++)
		if (i != home->stack)
			forget(home, &home->stacks[i]);
	home->stacks[home->stack].holder = NULL;
	home->held = 0;
	t->low = home->stacks[home->stack].low;
}

static bool stack_open(struct calls_stack *s, const struct port_stack *bounds)
{
	if (!s->frames) {
		struct calls_frame *memory = port_memory(frames_bytes());

		if (!memory)
			return false;
		/*
		 * calls_stack_ended() reads the frame below the mark, so one frame is allocated
		 * below frames[0].
		 */
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
	home->stack = 0;
	calls_stack_alone(t);
	home->stack_count = 1;
	if (!stack_open(&home->stacks[0], &bounds))
		return false;
	/*
	 * A mark with no call below it. It has the highest possible sp, so that calls above it pass
	 * the fast path's check.
	 */
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

/* Stores the innermost node of a stack that is not the current one, for readers of the table. */
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

	/* The end of a window changes only frames of the current stack. */
	calls_window_end(t);
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
 * The index of the stack that contains the top frame. It differs from the current stack after a
 * handler ran on another stack.
 */
static uint32_t stack_of_top(const struct calls_home *home)
{
	size_t bytes = frames_bytes();
	uint32_t found = home->stack;

	if ((uintptr_t)home->top - (uintptr_t)home->stacks[found].frames < bytes)
		return found;
	for (uint32_t i = 0; i < home->stack_count; i++)
		if ((uintptr_t)home->top - (uintptr_t)home->stacks[i].frames < bytes)
			found = i;
	return found;
}

/*
 * An interrupted hook writes the top of its own stack when it continues, whichever stack the
 * handler ran on. The stack with that top is the current one, and the handler has returned.
 */
void calls_stack_right(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct calls_stack *s = &home->stacks[home->stack];

	home->stack = stack_of_top(home);
	if (s == &home->stacks[home->stack])
		return;
	s->top = s->frames;
	t->low = home->stacks[home->stack].low;
}

static bool encloses(const struct calls_stack *s, uintptr_t low, uintptr_t high)
{
	return s->low <= low && high <= s->high && high - low < s->high - s->low;
}

/* Removes an overlap with the stack that the thread leaves, since bounds may be estimates. */
static void clip(const struct calls_stack *current, struct port_stack *bounds, uintptr_t sp)
{
	if (sp < current->low && bounds->high > current->low)
		bounds->high = current->low;
	if (sp >= current->high && bounds->low < current->high)
		bounds->low = current->high;
}

/* An index for a new stack: a free one, or the one that was left the longest time ago. */
static uint32_t place(struct calls_thread *t, uintptr_t low, uintptr_t high)
{
	struct calls_home *home = calls_home(t);
	uint32_t best = 0;

	for (uint32_t i = 1; i < home->stack_count; i++) {
		struct calls_stack *s = &home->stacks[i];

		if (i == home->stack)
			continue;
		/* The new stack uses the memory of this stack. */
		if (s->low < high && low < s->high && !encloses(s, low, high))
			forget(home, s);
		if (!s->high && !best)
			best = i;
	}
	if (best)
		return best;
	if (home->stack_count < CALLS_STACKS)
		return home->stack_count++;
	for (uint32_t i = 1; i < home->stack_count; i++)
		if (i != home->stack && (!best || home->stacks[i].used < home->stacks[best].used))
			best = i;
	forget(home, &home->stacks[best]);
	calls_flag(ASSAY_CALLS_STACKS);
	__atomic_fetch_add(&calls_table.header->nested_stacks, 1, __ATOMIC_RELAXED);
	return best;
}

/* The top frame of a stack. */
static struct calls_frame *top_of(struct calls_home *home, uint32_t index)
{
	return index == home->stack ? home->top : home->stacks[index].top;
}

/*
 * True if the call whose frame contains the stack is open. The stack around it may itself lie in a
 * frame. A stack that was forgotten encloses nothing.
 */
static bool is_held(struct calls_home *home, const struct calls_stack *s)
{
	for (; s->holder; s = &home->stacks[s->outer])
		if (!encloses(&home->stacks[s->outer], s->low, s->high) ||
		    s->holder > top_of(home, s->outer) || s->holder->sp != s->holder_sp)
			return false;
	return true;
}

/*
 * The innermost stack that contains sp; stack_count: none. If the call whose frame contains a stack
 * has ended, the memory belongs to the outer stack again.
 */
static uint32_t innermost(struct calls_home *home, uintptr_t sp)
{
	uint32_t best = home->stack_count;

	for (uint32_t i = 0; i < home->stack_count; i++) {
		struct calls_stack *s = &home->stacks[i];

		if (!is_held(home, s))
			forget(home, s);
		if (inside(s, sp) &&
		    (best == home->stack_count || encloses(&home->stacks[best], s->low, s->high)))
			best = i;
	}
	return best;
}

/* The innermost stack that contains the memory; stack_count: none. */
static uint32_t around(const struct calls_home *home, uintptr_t low, uintptr_t high)
{
	const struct calls_stack *s = home->stacks;
	uint32_t best = home->stack_count;

	for (uint32_t i = 0; i < home->stack_count; i++)
		if (encloses(&s[i], low, high) &&
		    (best == home->stack_count || encloses(&s[best], s[i].low, s[i].high)))
			best = i;
	return best;
}

bool calls_stack_encloses(struct calls_thread *t, uintptr_t low, uintptr_t high)
{
	return around(calls_home(t), low, high) < calls_home(t)->stack_count;
}

/* The oldest of the calls that lie below the memory, counted from the top downward. */
static struct calls_frame *holder_of(struct calls_thread *t, uint32_t outer, uintptr_t low)
{
	struct calls_frame *f = top_of(calls_home(t), outer), *holder = NULL;

	for (; f && f->sp < low; f = calls_frame_below(t, f))
		if (!calls_is_mark(f))
			holder = f;
	return holder;
}

void calls_stack_hold(struct calls_thread *t, uintptr_t low, uintptr_t high)
{
	/*
	 * If the memory is the lowest part of the frame, its low bound equals the stack pointer of
	 * the call.
	 */
	struct port_stack bounds = {.low = low + 1, .high = high};
	struct calls_home *home = calls_home(t);
	uint32_t outer = around(home, low, high);
	struct calls_frame *holder;
	struct calls_stack *s;

	if (outer == home->stack_count)
		return;
	holder = holder_of(t, outer, bounds.low);
	if (!holder)
		return;
	s = &home->stacks[place(t, low, high)];
	if (!stack_open(s, &bounds))
		return;
	s->outer = outer;
	s->holder = holder;
	s->holder_sp = holder->sp;
	home->held++;
}

bool calls_stack_select(struct calls_thread *t, uintptr_t sp, bool may_be_new)
{
	struct calls_home *home = calls_home(t);
	struct port_stack bounds;
	uint32_t index;

	if (!home->held && inside(&home->stacks[home->stack], sp))
		return true;
	index = innermost(home, sp);
	if (index < home->stack_count) {
		if (index != home->stack)
			switch_to(t, index);
		return true;
	}
	if (!may_be_new || !port_stack_of(t, sp, &bounds))
		return false;
	clip(&home->stacks[home->stack], &bounds, sp);
	index = place(t, bounds.low, bounds.high);
	if (!stack_open(&home->stacks[index], &bounds)) {
		home->stacks[index].low = home->stacks[index].high = 0;
		return false;
	}
	switch_to(t, index);
	return true;
}

/*
 * True if the event at `sp` lies above the hook that the handler interrupted: a jump left the
 * handler. The frame above the top has the sp of an interrupted entry. For an interrupted exit it
 * may still have the sp of an older, deeper call, so that a handler that still runs seems to have
 * ended.
 */
static bool is_abandoned(const struct calls_frame *mark, uintptr_t sp)
{
	return ((const struct calls_frame *)mark->site)[1].sp <= sp;
}

/*
 * True if handlers interrupt hooks of handlers so often that marking them takes more time than the
 * signals leave.
 */
static bool is_flood(const struct calls_home *home, const struct calls_stack *s, uintptr_t sp)
{
	const struct calls_frame *f = home->top;
	uint32_t marks = 0;

	for (uint32_t i = 0; i < MARKS_WITHIN && marks < MARKS_MOST; i++) {
		if (!calls_is_mark(f)) {
			f--;
			continue;
		}
		if (!f->site)
			return false;
		marks += !inside(s, sp) || !is_abandoned(f, sp);
		f = (const struct calls_frame *)f->site;
	}
	return marks == MARKS_MOST;
}

bool calls_stack_may_mark(struct calls_thread *t, uintptr_t sp)
{
	struct calls_home *home = calls_home(t);
	const struct calls_stack *s;

	if (home->jumped)
		home->flood = NULL;
	/*
	 * Until a handler returns, its events and those of deeper handlers belong to the flood and
	 * are lost.
	 */
	else if (home->flood == home->top && sp <= home->flood_sp)
		return false;
	s = &home->stacks[stack_of_top(home)];
	if ((uintptr_t)home->top - (uintptr_t)s->frames >= frames_bytes() - MARK_ROOM)
		return false;
	if (home->jumped || !is_flood(home, s, sp))
		return true;
	home->flood = home->top;
	home->flood_sp = sp;
	return false;
}

bool calls_stack_mark(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	bool jumped = home->jumped;
	struct calls_frame *top = home->top, *mark = top + 3;
	/* An exit that finds the gap or the mark takes the slow path. */
	struct calls_frame gap = {.node = top->node, .ra = CALLS_MARK};

	home->jumped = false;
	top[2] = gap;
	top[2].site = (uintptr_t)top;
	*mark = top[2];
	calls_barrier();
	home->top = mark;
	return jumped;
}

/*
 * The same call instruction (`site`) created the physical frames of both, and `f` lies at or below
 * `bound`. Both are then in one physical frame, unless an older frame has the same entry address as
 * `f`. A code address is entered once in a physical frame, so `f` then belongs to a deeper level of
 * a recursion.
 */
static bool in_frame(const struct calls_frame *f, uintptr_t site, uintptr_t bound)
{
	if (calls_is_mark(f) || f->site != site || f->sp > bound)
		return false;
	for (const struct calls_frame *k = f - 1;
	     !calls_is_mark(k) && k->site == site && k->sp <= bound; k--)
		if (k->ra == f->ra)
			return false;
	return true;
}

/* True if a frame from `f` downward has the same entry address as `call`. */
static bool repeated(const struct calls_frame *f, const struct calls_frame *call, uintptr_t bound)
{
	for (; !calls_is_mark(f) && f->site == call->site && f->sp <= bound; f--)
		if (f->ra == call->ra)
			return true;
	return false;
}

bool calls_inlined(const struct calls_frame *top, const struct calls_frame *call)
{
	return call->site == top->site && !calls_is_mark(top) && !repeated(top, call, call->sp);
}

/*
 * After a jump: `call` has the same call instruction as `f`, but its function is not inlined and
 * was called in place of that of `f`. The entry of such a function lies within its first 128 bytes,
 * and the function around `f` does not begin between its start and its entry. If the functions were
 * the same, the entry addresses would be the same too.
 */
static bool is_fresh(const struct calls_frame *f, const struct calls_frame *call, uint64_t function,
                     uintptr_t bound)
{
	uint64_t own;

	while (!calls_is_mark(f - 1) && f[-1].site == call->site && f[-1].sp <= bound)
		f--;
	own = f->node->function & ASSAY_FN_ADDRESS;
	return own != function && call->ra - function < 128 && (function >= own || own > call->ra);
}

bool calls_frame_end(struct calls_thread *t, struct calls_frame *f)
{
	struct assay_calls_node *node = f->node;
	int64_t net;

	if (calls_is_mark(f) || !calls_is_timed(f) ||
	    (node->function & ASSAY_FN_ADDRESS) == ASSAY_FN_OTHER)
		return false;
	net = calls_net(f);
	if (net < node->min)
		node->min = net;
	if (net > node->max)
		node->max = net;
	return (t->charge || f == t->chosen) && calls_times_add(t, f);
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

/* Bytes. Only this part of a frame is searched for the return address. */
#define FRAME_MOST (64u << 10)

/* The address of the return address of an event's physical frame; `sp` if it is not found. */
static uintptr_t slot_of(struct calls_thread *t, uintptr_t sp, uintptr_t site)
{
	const struct calls_stack *s = calls_stack(t);
	uintptr_t slot = sp, end = s->high - slot > FRAME_MOST ? slot + FRAME_MOST : s->high;

	/*
	 * Within known bounds, all memory from sp up is mapped. With unknown bounds nothing is
	 * read.
	 */
	if (s->high == UINTPTR_MAX)
		end = slot;
	while (slot < end && *(const uintptr_t *)slot != site)
		slot += sizeof(slot);
	return slot < end ? slot : sp;
}

/*
 * True if `f` was entered while arguments of an earlier call were still on the stack. They are
 * removed now, so `call`, in the same physical frame, has a higher sp. An older entry in that
 * frame, from before the arguments were pushed, lies above the return address of `call`.
 */
static bool entered_low(struct calls_thread *t, const struct calls_frame *f,
                        const struct calls_frame *call)
{
	const struct calls_frame *k = f - 1;

	if (calls_is_mark(k) || k->site != f->site)
		return false;
	while (!calls_is_mark(k - 1) && k[-1].site == f->site && k->sp <= call->sp)
		k--;
	return k->ra != f->ra && k->sp > slot_of(t, call->sp, call->site);
}

struct calls_frame *calls_stack_above(struct calls_thread *t, const struct calls_frame *call,
                                      uint64_t function, bool jumped)
{
	struct calls_frame *f = calls_home(t)->top, *below;
	uintptr_t bound = jumped ? slot_of(t, call->sp, call->site) : call->sp;
	/*
	 * A handler ends without a return only by a jump. Without one, the mark of each interrupted
	 * hook is still valid.
	 */
	const bool left = jumped;

	for (; (below = calls_frame_below(t, f)); f = below) {
		if (calls_is_mark(f)) {
			/*
			 * The mark of a running handler, unless a jump left the handler or the code
			 * that it interrupted.
			 */
			if (!(left && is_abandoned(f, call->sp)) &&
			    (calls_is_mark(below) || bound < below->sp))
				return f;
			jumped = true;
			bound = slot_of(t, call->sp, call->site);
			continue;
		}
		if (bound < f->sp)
			return f;
		if (in_frame(f, call->site, bound) && !repeated(f, call, bound) &&
		    !(jumped && is_fresh(f, call, function, bound)))
			return f;
		if (!jumped && f->site != call->site && entered_low(t, f, call))
			return f;
	}
	return f;
}

struct calls_frame *calls_stack_ended(struct calls_thread *t, uint64_t function,
                                      const struct calls_frame *ending, bool jumped)
{
	struct calls_frame *f = calls_home(t)->top, *below;
	uintptr_t sp = ending->sp, bound = sp;

	if (ending->ra == ending->site)
		bound -= sizeof(bound); /* a jump to the hook: only `ra` is left */
	else if (jumped)
		bound = slot_of(t, sp, ending->site);
	for (; (below = calls_frame_below(t, f)); f = below) {
		bool same;

		if (calls_is_mark(f))
			continue;
		same = (f->node->function & ~ASSAY_FN_INHERITED) == function ||
		       (f->node->function == ASSAY_FN_OTHER && f->site == function);
		if (same && (sp <= f->sp || in_frame(f, ending->site, bound)))
			return f;
		/*
		 * An older call that is still open: the entry of the call that exits was not
		 * recorded.
		 */
		if (f->sp > sp)
			return NULL;
	}
	return NULL;
}
