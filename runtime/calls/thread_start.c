/* SPDX-License-Identifier: MIT */
/*
 * thread_start: the start and the end of threads. The record and the tree of an ended thread go to
 * the next thread that starts, so that memory use follows the number of concurrent threads. A
 * forked child starts with a new tree that contains the path in which the fork was called.
 */
#include "calls/calls.h"
#include "calls/thread.h"
#include "calls/fork_copy.h"

/* Records of ended threads. A thread blocks signals before it takes the lock. */
static struct {
	struct calls_thread *first;
	uint64_t table;  /* the table that contains the records */
	uint64_t holder; /* the table of the thread that holds the lock; 0: unlocked */
} free_threads;
static uint64_t calibrating; /* the table of the thread that runs the calibration */
static bool calibrated;
static struct assay_calls_cost cost;
static int32_t counted_cost, timed_cost;
static volatile uint64_t never_switched;

/* Data kept over a fork. The home comes first. */
struct kept {
	struct calls_home home;
	uint64_t table; /* the table that contains the nodes of its frames */
	struct assay_calls_thread *record;
	uint32_t state; /* state at the fork */
	volatile uint64_t *watch;
};

/* The record of a forked child's thread until its first event. */
static struct assay_calls_thread no_record;

static void known_costs(void)
{
	calls_table.header->cost = cost;
	calls_table.header->counted_cost = counted_cost;
	calls_table.header->timed_cost = timed_cost;
}

static struct kept *kept_of(struct calls_thread *t)
{
	return (struct kept *)calls_home(t);
}

/*
 * Identifies a table, so that a process's table differs from those of its parent processes. Not 0.
 */
static uint64_t name_of(const void *table)
{
	const struct assay_calls_header *h = table;

	return (h->start_ns ^ (uint64_t)(uint32_t)h->pid << 40) | 1;
}

/*
 * Takes the lock. A lock that a parent's thread held at the fork is taken over: its holder is not
 * in this process.
 */
static bool lock(void)
{
	uint64_t self = name_of(calls_table.base), holder;

	for (int tries = 0; tries < 100000; tries++) {
		holder = __atomic_load_n(&free_threads.holder, __ATOMIC_RELAXED);
		if (holder != self &&
		    __atomic_compare_exchange_n(&free_threads.holder, &holder, self, false,
		                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			break;
		if (tries == 99999)
			return false; /* the caller continues without the list */
	}
	if (free_threads.table != self) {
		free_threads.first = NULL; /* a parent's */
		free_threads.table = self;
	}
	return true;
}

static void unlock(void)
{
	__atomic_store_n(&free_threads.holder, 0, __ATOMIC_RELEASE);
}

static struct calls_thread *take_free(void)
{
	struct calls_thread *t;

	if (!lock())
		return NULL;
	t = free_threads.first;
	if (t)
		free_threads.first = calls_home(t)->next_free;
	unlock();
	return t;
}

/* The path that a fork's child inherits, outermost function first, as in the parent's table. */
struct path {
	struct calls_thread *thread;
	uint32_t count;
	uint32_t *ids, *made; /* nodes of the parent; nodes of the child */
	uint64_t *functions;
	size_t bytes;
	void *memory;
};

static const struct assay_calls_node *node_in(const char *table, uint32_t id)
{
	return (const struct assay_calls_node *)(table + (uint64_t)id * ASSAY_CALLS_UNIT);
}

/* Saves the path. Called with each table of a parent process that is still mapped. */
static bool path_save(void *into, const char *table)
{
	struct path *path = into;
	uint32_t top = calls_id(calls_home(path->thread)->top->node), count = 0;

	if (name_of(table) != kept_of(path->thread)->table)
		return false;
	for (uint32_t n = top; node_in(table, n)->parent; n = node_in(table, n)->parent)
		count++;
	path->bytes = (count + 1) * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
	path->memory = port_memory(path->bytes);
	if (!path->memory)
		return true;
	path->functions = path->memory;
	path->ids = (uint32_t *)(path->functions + count + 1);
	path->made = path->ids + count + 1;
	path->count = count;
	for (uint32_t n = top;; n = node_in(table, n)->parent) {
		path->ids[count] = n;
		path->functions[count] = node_in(table, n)->function;
		if (!count--)
			return true;
	}
}

/* Points the frames, which are the child's own copies, to nodes of the child's table. */
static void path_restore(struct path *path, struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_node *node = calls_node(t->record->root);
	uint32_t at = path->count;

	calls_stack_right(t);
	path->made[0] = t->record->root;
	for (uint32_t i = 1; i <= path->count; i++) {
		node = calls_tree_child(t, node, path->functions[i] | ASSAY_FN_INHERITED);
		path->made[i] = calls_id(node);
	}
	for (struct calls_frame *f = home->top; f; f = calls_frame_below(t, f)) {
		while (at && path->ids[at] != calls_id(f->node))
			at--;
		f->node = calls_node(path->made[at]);
		f->net = CALLS_UNTIMED;
	}
	calls_stack_alone(t);
	t->record->current = calls_id(home->top->node);
	calls_flag(ASSAY_CALLS_FORKED);
}

/* Starts the accounting of the thread's time. */
static void record_start(struct calls_thread *t)
{
	struct assay_calls_thread *r = t->record;

	r->epoch = calls_table.header->epoch;
	t->inner = cost.inner / 1024;
	t->outer = cost.outer / 1024;
	r->before_cpu_ns = r->sync_cpu_ns = port_thread_cpu_ns();
	r->first = r->last = r->sync = port_clock();
}

static void record_begin(struct calls_thread *t)
{
	t->record->threads++;
	t->watch = t->sampled = &never_switched;
	t->seen = t->sampled_seen = never_switched;
	t->charge = ~UINT64_C(0);
	t->rest = CALLS_TIMED;
	t->samples = false;
	t->chosen = NULL;
	t->inner_cost = t->outer_cost = 0;
	port_thread_begin(t, t->record, &t->watch);
	t->seen = *t->watch;
	__atomic_store_n(&t->record->tid, port_thread_id(), __ATOMIC_RELEASE);
	record_start(t);
}

static bool record_new(struct calls_thread *t)
{
	uint32_t unit = calls_chunk(ASSAY_CHUNK_THREAD, 0,
	                            sizeof(struct assay_calls_chunk) + sizeof(*t->record));

	if (!unit)
		return false;
	t->record = (struct assay_calls_thread *)calls_node(unit + 1);
	((struct assay_calls_chunk *)calls_node(unit))->used = 1;
	return calls_tree_begin(t);
}

static struct calls_thread *off(void)
{
	*port_self() = &calls_off;
	return &calls_off;
}

/* Creates the thread's tree and stacks. In a forked child it restores the inherited path. */
static bool begin(struct calls_thread *t, struct path *path, uintptr_t sp)
{
	if (!t || ((!t->record || t->record == &no_record) && !record_new(t)))
		return false;
	record_begin(t);
	if (path->memory)
		path_restore(path, t);
	else if (!calls_stacks_begin(t, sp))
		return false;
	kept_of(t)->table = name_of(calls_table.base);
	kept_of(t)->record = t->record;
	return true;
}

/* True if an open mark exists: a hook was interrupted and continues after the handler returns. */
static bool is_in_handler(struct calls_thread *t)
{
	const struct calls_home *home = calls_home(t);

	for (uint32_t i = 0; i < home->stack_count; i++) {
		const struct calls_stack *s = &home->stacks[i];
		const struct calls_frame *f = i == home->stack ? home->top : s->top;

		if (s->high && f != s->frames)
			for (; f != s->frames; f--)
				if (calls_is_mark(f))
					return true;
	}
	return false;
}

/* The forked thread continues where it was, together with the hook that was interrupted. */
static bool twin_begin(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);

	if (!port_begin(NULL, NULL, true))
		return false;
	known_costs();
	calls_fork_copy_trim(t);
	t->record = kept_of(t)->record;
	if (!calls_tree_begin_waits(t))
		return false;
	t->record->current = calls_id(home->top->node);
	record_begin(t);
	calls_sampling_begin(t);
	record_start(t);
	for (uint32_t i = 0; i < home->stack_count; i++) {
		struct calls_stack *s = &home->stacks[i];
		struct calls_frame *f = i == home->stack ? home->top : s->top;

		for (; s->high && f != s->frames; f--)
			f->net = CALLS_UNTIMED;
	}
	t->low = home->stacks[home->stack].low;
	kept_of(t)->table = name_of(calls_table.base);
	calls_flag(ASSAY_CALLS_FORKED);
	return true;
}

void calls_fork_prepare(void)
{
	struct calls_thread *t = *port_self();

	if (t == &calls_unborn || t == &calls_off)
		return;
	kept_of(t)->state = t->state;
	kept_of(t)->watch = t->watch;
}

void calls_fork_child(void)
{
	struct calls_thread *t = *port_self();
	uint32_t state;
	uint64_t held;

	/* A child that forks again before its first event has nothing to change. */
	if (t == &calls_unborn || t == &calls_off || kept_of(t)->state == CALLS_UNBORN)
		return;
	state = kept_of(t)->state;
	held = port_signals_hold();
	calls_stack_right(t);
	t->record = &no_record;
	t->watch = t->sampled = &never_switched;
	t->seen = t->sampled_seen = never_switched + 1;
	if (state == CALLS_BUSY || is_in_handler(t)) {
		port_memory_missed(kept_of(t)->watch);
		if (twin_begin(t))
			t->state = state;
		else
			off();
	}
	port_signals_release(held);
}

/*
 * True in the first thread of the process. If a fork lost the thread that was calibrating, another
 * thread calibrates.
 */
static bool is_to_calibrate(void)
{
	uint64_t self = name_of(calls_table.base), other;

	if (__atomic_load_n(&calibrated, __ATOMIC_ACQUIRE))
		return false;
	other = __atomic_load_n(&calibrating, __ATOMIC_RELAXED);
	return other != self && __atomic_compare_exchange_n(&calibrating, &other, self, false,
	                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void calibrate(struct calls_thread *t, uintptr_t sp)
{
	calls_calibrate(t);
	cost = calls_table.header->cost;
	counted_cost = calls_table.header->counted_cost;
	timed_cost = calls_table.header->timed_cost;
	__atomic_store_n(&calibrated, true, __ATOMIC_RELEASE);
	calls_stacks_begin(t, sp);
	record_start(t);
}

struct calls_thread *calls_thread_start(uintptr_t sp)
{
	struct calls_thread *self = *port_self(), *t;
	struct path path = {.thread = self};
	bool forked = self != &calls_unborn, ready, inherited;

	if ((forked || !port_began()) && !port_begin(forked ? path_save : NULL, &path, false))
		return off();
	if (__atomic_load_n(&calibrated, __ATOMIC_ACQUIRE))
		known_costs();
	t = forked ? self : take_free();
	if (!t)
		t = port_memory_wiped(CALLS_THREAD_BYTES, sizeof(struct kept));
	ready = begin(t, &path, sp);
	inherited = path.memory;
	if (inherited)
		port_memory_free(path.memory, path.bytes);
	if (!ready)
		return off();
	*port_self() = t;
	t->state = CALLS_TIMED;
	if (!inherited && is_to_calibrate())
		calibrate(t, sp);
	calls_sampling_begin(t);
	record_start(t);
	return t;
}

void calls_thread_end(void)
{
	struct calls_thread *t = *port_self();
	struct assay_calls_thread *r = t->record;
	uint64_t held, now;

	if (t->state == CALLS_UNBORN || t->state == CALLS_OFF)
		return;
	held = port_signals_hold();
	now = port_clock();
	calls_settle(t, &now);
	calls_stack_drop(t, calls_stack(t)->frames);
	r->sync = now;
	r->sync_cpu_ns = port_thread_cpu_ns();
	r->past_wall += now - r->first;
	r->past_cpu_ns += r->sync_cpu_ns - r->before_cpu_ns;
	r->current = r->root;
	r->stack_count = 0;
	__atomic_store_n(&r->tid, 0, __ATOMIC_RELEASE);
	t->state = CALLS_UNBORN;
	*port_self() = &calls_unborn;
	port_thread_done(t);
	if (lock()) {
		calls_home(t)->next_free = free_threads.first;
		free_threads.first = t;
		unlock();
	}
	port_signals_release(held);
}

void calls_thread_sync(void)
{
	struct calls_thread *t = *port_self();
	uint64_t held, now;

	if (!calls_rests(t))
		return;
	held = port_signals_hold();
	now = port_clock();
	calls_settle(t, &now);
	t->record->sync = now;
	t->record->sync_cpu_ns = port_thread_cpu_ns();
	port_signals_release(held);
}
