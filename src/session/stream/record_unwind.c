/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/stream/record_unwind.h"

#include "base/text/plural.h"
#include "format/perf/perf_data.h"
#include "profile/stack/stack_chain.h"
#include "session/bound_note.h"

#include <inttypes.h>

/* Kernel frames (127 unless a sysctl raises the limit), a mark, and the walked frames. */
#define CHAIN_MAX (2 * STACK_WALK_CHAIN)

/* Above these numbers, exited processes and threads are removed. */
#define PROCESSES_MAX 20000
#define THREADS_MAX 40000
#define IMAGES_MAX 16000

struct record_unwind {
	struct image_table images;
	struct process_table *processes;
	struct cache_dir *cache;
	struct stack_walk *walk;
	struct stack_walk_options options; /* of the walker */
	struct stack_walk_counts before;   /* of earlier walkers */
	size_t processes_max, threads_max, images_max;
	/* The current sample, and the output for definitions of outer stacks */
	const struct event *sample;
	const struct perf_event_attr *attr;
	uint64_t id;
	struct buf *out;
	const struct event_sink *events;
	uint32_t thread; /* of the sample, in the process table */
	struct error define_error;
	uint64_t chain[CHAIN_MAX];
};

/* Writes the definition of an outer stack before the samples that refer to it. */
static void define_outer(void *ctx, uint32_t outer, uint32_t parent, const uint64_t *addresses,
                         uint32_t count)
{
	struct record_unwind *l = ctx;
	struct event e = *l->sample;
	const struct thread *thread = process_table_thread_at(l->processes, l->thread);

	l->options.outer_given = outer;
	e.kind = EVENT_OUTER_STACK;
	e.outer_stack = (struct event_outer_stack){
	        .id = outer,
	        .parent = parent,
	        .addresses = addresses,
	        .count = count,
	        .thread_name = process_table_name(l->processes, thread->name)};
	/* An error is reported after the sample. */
	if (!perf_record_encode(l->out, l->attr, l->id, &e, &l->define_error) && l->events &&
	    l->events->event)
		l->events->event(l->events->ctx, &e, &l->define_error);
}

struct record_unwind *record_unwind_new(enum stack_method method, struct foreign *foreign,
                                        const struct event_sink *events)
{
	struct record_unwind *l = xcalloc(1, sizeof(*l));
	struct error no_cache = {0};

	l->options = (struct stack_walk_options){.method = method,
	                                         .live = true,
	                                         .foreign = foreign,
	                                         .puts_off = true,
	                                         .define = define_outer,
	                                         .ctx = l};
	l->events = events;
	l->processes_max = PROCESSES_MAX;
	l->threads_max = THREADS_MAX;
	l->images_max = IMAGES_MAX;

	image_table_init(&l->images);
	l->processes = process_table_new(&l->images);
	process_table_bound(l->processes);
	/* Without a cache, tables are compiled each time, which is slower but has the same result.
	 */
	if (cache_dir_open(&l->cache, &no_cache))
		l->cache = NULL;
	l->options.cache = l->cache;
	l->walk = stack_walk_new(l->processes, &l->images, &l->options);
	return l;
}

void record_unwind_free(struct record_unwind *l)
{
	if (!l)
		return;
	stack_walk_free(l->walk);
	cache_dir_close(l->cache);
	process_table_free(l->processes);
	image_table_done(&l->images);
	free(l);
}

static struct stack_walk_counts counts_of(const struct record_unwind *l)
{
	const struct stack_walk_counts *now = stack_walk_counts(l->walk), *before = &l->before;

	return (struct stack_walk_counts){
	        .samples = before->samples + now->samples,
	        .frames = before->frames + now->frames,
	        .by_frame_pointer = before->by_frame_pointer + now->by_frame_pointer,
	        .stitched_frames = before->stitched_frames + now->stitched_frames,
	        .memory_reads = before->memory_reads + now->memory_reads,
	        .trusted = before->trusted + now->trusted,
	        .compared = before->compared + now->compared,
	        .changed = before->changed + now->changed,
	        .tables = before->tables + now->tables,
	        .table_rows = before->table_rows + now->table_rows,
	        .table_ns = before->table_ns + now->table_ns,
	        .cut_tables = before->cut_tables + now->cut_tables,
	        .dropped_tables = before->dropped_tables + now->dropped_tables,
	};
}

/*
 * Continues with the living processes. The state of their stacks is removed too, since it is
 * indexed by thread number; it is soon rebuilt.
 */
void record_unwind_renew(struct record_unwind *l)
{
	struct image_table images = l->images;
	struct process_table *old = l->processes;
	struct stack_walk *walk = l->walk;

	l->before = counts_of(l);
	image_table_init(&l->images);
	l->processes = process_table_carry(old, &images, &l->images);
	l->walk = stack_walk_new(l->processes, &l->images, &l->options);
	stack_walk_take_tables(l->walk, walk, &images);
	stack_walk_free(walk);
	process_table_free(old);
	image_table_done(&images);
	/*
	 * The limits are added to the numbers of living objects, so that the table is not renewed
	 * again at once.
	 */
	l->processes_max = PROCESSES_MAX + process_table_process_count(l->processes);
	l->threads_max = THREADS_MAX + process_table_thread_count(l->processes);
	l->images_max = IMAGES_MAX + l->images.images.count;
}

void record_unwind_event(struct record_unwind *l, const struct event *e)
{
	bool ends = e->kind == EVENT_EXIT || (e->kind == EVENT_COMM && e->comm.exec);

	if (ends) {
		uint32_t thread = process_table_find_thread(l->processes, e->pid, e->tid);

		if (thread != ID_NONE)
			stack_walk_forget(l->walk, thread);
	}
	process_table_event(l->processes, e);
	if (process_table_process_count(l->processes) > l->processes_max ||
	    process_table_thread_count(l->processes) > l->threads_max ||
	    l->images.images.count > l->images_max || process_table_full(l->processes))
		record_unwind_renew(l);
}

int record_unwind_walk(struct record_unwind *l, struct event *e, const struct perf_event_attr *attr,
                       uint64_t id, struct buf *out, struct error *err)
{
	struct stack_walk_result walked = {.end = STACK_NONE};
	uint32_t process;

	l->sample = e;
	l->attr = attr;
	l->id = id;
	l->out = out;
	if (e->sample.regs) {
		l->thread = process_table_thread(l->processes, e->pid, e->tid);
		process = process_table_thread_at(l->processes, l->thread)->process;
		stack_walk_trust(l->walk, attr->type == PERF_TYPE_TRACEPOINT);
		stack_walk_sample(l->walk, process, l->thread, e, &walked);
	}
	if (walked.later)
		return LIVE_STACKS_LATER;
	stack_chain_join(&walked, &e->sample, l->chain, CHAIN_MAX);
	if (!l->define_error.code)
		return 0;
	*err = l->define_error;
	return -err->code;
}

void record_unwind_open(struct record_unwind *l)
{
	stack_walk_open(l->walk);
}

uint64_t record_unwind_memory_reads(const struct record_unwind *l)
{
	return counts_of(l).memory_reads;
}

static void note_bounds(const struct record_unwind *l, const struct stack_walk_counts *c,
                        struct account *account)
{
	char *dropped = bound_note_mappings(l->processes, "stacks in that code end there");

	if (dropped)
		vec_push(&account->notes, dropped);
	if (c->cut_tables)
		vec_push(&account->notes,
		         xasprintf("%" PRIu64 " %s more unwind information than assay reads from a "
		                   "file: stacks in the rest of it are followed by frame pointers.",
		                   c->cut_tables, plural(c->cut_tables, "file has", "files have")));
	if (c->dropped_tables)
		vec_push(&account->notes,
		         xasprintf("%" PRIu64 " unwind %s closed, and read again when needed: all "
		                   "of them use at most %zu MB.",
		                   c->dropped_tables,
		                   plural(c->dropped_tables, "table was", "tables were"),
		                   STACK_TABLE_BYTES >> 20));
}

static void note_trust(const struct stack_walk_counts *c, struct account *account)
{
	if (!c->trusted)
		return;
	vec_push(&account->notes,
	         xasprintf("%" PRIu64 " %s of waits deeper than the copy %s the outer frames of an "
	                   "earlier sample of the thread. Of %" PRIu64
	                   " that were compared with the thread's memory, %" PRIu64 " had changed.",
	                   c->trusted, plural(c->trusted, "stack", "stacks"),
	                   plural(c->trusted, "has", "have"), c->compared, c->changed));
}

void record_unwind_account(const struct record_unwind *l, struct account *account)
{
	struct stack_walk_counts c = counts_of(l);

	account->unwind = (struct account_unwind){
	        .samples = c.samples,
	        .frames = c.frames,
	        .by_frame_pointer = c.by_frame_pointer,
	        .stitched_frames = c.stitched_frames,
	        .memory_reads = c.memory_reads,
	        .tables = c.tables,
	        .table_rows = c.table_rows,
	        .table_ns = c.table_ns,
	};
	note_bounds(l, &c, account);
	note_trust(&c, account);
}
