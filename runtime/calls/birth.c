/* SPDX-License-Identifier: MIT */
/*
 * birth: threads begin and end. A record and its tree outlive their thread, and
 * go to the next one that begins, so that memory follows the threads there are at
 * once. A forked child begins anew, in the path in which it was forked.
 */
#include "calls/calls.h"
#include "calls/thread.h"

/* Records whose threads ended. Signals are held by whoever takes the lock. */
static struct calls_thread *free_threads;
static bool free_lock;
static bool calibrated;
static struct assay_calls_cost cost;
static volatile uint64_t never_switched;

static bool lock(void)
{
	for (int tries = 0; tries < 100000; tries++)
		if (!__atomic_test_and_set(&free_lock, __ATOMIC_ACQUIRE))
			return true;
	return false; /* does without */
}

static void unlock(void)
{
	__atomic_clear(&free_lock, __ATOMIC_RELEASE);
}

static struct calls_thread *take_free(void)
{
	struct calls_thread *t;

	if (!lock())
		return NULL;
	t = free_threads;
	if (t)
		free_threads = calls_home(t)->next_free;
	unlock();
	return t;
}

/* The path that a fork's child inherits, outermost first, as the parent's table has it. */
struct path {
	uint32_t count;
	uint32_t *ids, *made; /* the parent's nodes; the child's */
	uint64_t *functions;
	size_t bytes;
	void *memory;
};

static void path_save(struct path *path, struct calls_thread *t)
{
	struct assay_calls_node *top = calls_home(t)->top->node;
	uint32_t count = 0;

	for (struct assay_calls_node *n = top; n->parent; n = calls_node(n->parent))
		count++;
	path->bytes = (count + 1) * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
	path->memory = port_memory(path->bytes);
	if (!path->memory)
		return;
	path->functions = path->memory;
	path->ids = (uint32_t *)(path->functions + count + 1);
	path->made = path->ids + count + 1;
	path->count = count;
	for (struct assay_calls_node *n = top;; n = calls_node(n->parent)) {
		path->ids[count] = calls_id(n);
		path->functions[count] = n->function;
		if (!count--)
			break;
	}
}

/* Leads the frames, which are the child's own copies, to nodes of its own table. */
static void path_restore(struct path *path, struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_node *node = calls_node(t->record->root);
	uint32_t at = path->count;

	path->made[0] = t->record->root;
	for (uint32_t i = 1; i <= path->count; i++) {
		node = calls_tree_child(t, node, path->functions[i] | ASSAY_FN_INHERITED);
		path->made[i] = calls_id(node);
	}
	for (struct calls_frame *f = home->top; f; f = calls_frame_below(t, f)) {
		while (at && path->ids[at] != calls_id(f->node))
			at--;
		f->node = calls_node(path->made[at]);
		f->net = 0;
	}
	for (uint32_t i = 0; i < home->stack_count; i++)
		if (i != home->stack)
			home->stacks[i].low = home->stacks[i].high = 0;
	t->low = home->stacks[home->stack].low;
	t->record->current = calls_id(home->top->node);
	calls_flag(ASSAY_CALLS_FORKED);
}

/* From here on the thread's time is accounted for. */
static void record_start(struct calls_thread *t)
{
	struct assay_calls_thread *r = t->record;

	r->epoch = t->epoch = calls_table.header->epoch;
	t->inner = cost.inner / 1024;
	t->outer = cost.outer / 1024;
	r->before_cpu_ns = r->sync_cpu_ns = port_thread_cpu_ns();
	r->first = r->last = r->sync = port_clock();
}

static void record_begin(struct calls_thread *t)
{
	t->record->threads++;
	t->watch = &never_switched;
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

struct calls_thread *calls_birth(uintptr_t sp)
{
	struct calls_thread *self = *port_self(), *t = NULL;
	bool forked = self != &calls_unborn && !port_began(), first = !port_began();
	struct path path = {0};

	if (forked)
		path_save(&path, self);
	if (first) {
		free_threads = NULL;
		unlock();
	}
	if (first && !port_begin())
		return off();
	calls_table.header->cost = cost;
	if (self != &calls_unborn)
		t = self;
	else
		t = take_free();
	if (!t)
		t = port_memory_wiped(CALLS_THREAD_BYTES, sizeof(struct calls_home));
	if (!t || (!t->record && !record_new(t)))
		return off();
	record_begin(t);
	if (path.memory)
		path_restore(&path, t);
	else if (!calls_stacks_begin(t, sp))
		return off();
	if (path.memory)
		port_memory_free(path.memory, path.bytes);
	*port_self() = t;
	t->state = CALLS_READY;
	if (!calibrated) {
		calibrated = true;
		calls_calibrate(t);
		cost = calls_table.header->cost;
		calls_stacks_begin(t, sp);
		record_start(t);
	}
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
		calls_home(t)->next_free = free_threads;
		free_threads = t;
		unlock();
	}
	port_signals_release(held);
}

void calls_thread_sync(void)
{
	struct calls_thread *t = *port_self();
	uint64_t held, now;

	if (t->state != CALLS_READY && t->state != CALLS_SAMPLE)
		return;
	held = port_signals_hold();
	now = port_clock();
	calls_settle(t, &now);
	t->record->sync = now;
	t->record->sync_cpu_ns = port_thread_cpu_ns();
	port_signals_release(held);
}

void calls_code_gone(uint64_t start, uint64_t end, unsigned image)
{
	const struct assay_calls_header *h = calls_table.header;
	uint64_t mark = ASSAY_FN_GONE | (uint64_t)(image + 1) << ASSAY_FN_IMAGE_SHIFT;

	for (uint64_t at = h->header_bytes; at < h->used_bytes;) {
		struct assay_calls_chunk *chunk =
		        (struct assay_calls_chunk *)(calls_table.base + at);
		struct assay_calls_node *nodes = (struct assay_calls_node *)(chunk + 1);

		at += chunk->kind ? chunk->bytes : ASSAY_CALLS_PAGE;
		if (chunk->kind != ASSAY_CHUNK_NODES)
			continue;
		for (uint64_t i = 0; i < chunk->used; i++) {
			uint64_t address = nodes[i].function & ASSAY_FN_ADDRESS;

			if (address >= start && address < end &&
			    !(nodes[i].function & ASSAY_FN_GONE))
				nodes[i].function |= mark;
		}
	}
}
