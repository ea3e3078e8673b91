/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/live_stacks.h"

#include "base/clock.h"
#include "format/perf_data_layout.h"
#include "format/perf_record.h"
#include "profile/stack_chain.h"
#include "session/ring_merge.h"
#include "session/shed.h"

#include <string.h>

/*
 * A record is in its ring this long after its time: an interrupt that writes
 * one is over in microseconds.
 */
#define SETTLE_NS 1000000
#define OUT_BYTES (256u << 10)
/* The kernel's side, 127 frames unless a sysctl raised that; then a mark and what was walked. */
#define CHAIN_MAX (2 * STACK_WALK_CHAIN)

struct live_stacks {
	const struct plan *plan;
	struct perf_data_writer *writer;
	const proc_ids *tasks;
	struct perf_decoder decoder;
	VEC(struct perf_event_attr) file_attrs; /* by event */
	struct ring_merge *merge;
	struct shed shed;
	struct image_table images;
	struct process_table *processes;
	struct cache_dir *cache;
	struct stack_walk *walk;
	struct keeper *keeper;      /* NULL: none */
	struct buf out;             /* records on their way to the writer */
	const struct event *sample; /* being walked */
	uint64_t sample_id;
	uint32_t thread; /* of the sample, in the process table */
	struct error define_error;
	uint64_t lost; /* records, as the rings told */
	bool deep;     /* the last read looked into threads' memory */
	uint64_t cpu_ns;
	uint64_t chain[CHAIN_MAX];
};

/* The walker names the outermost part of a deep stack: it goes before the samples that use it. */
static void define_outer(void *ctx, uint32_t outer, uint32_t parent, const uint64_t *addresses,
                         uint32_t count)
{
	struct live_stacks *l = ctx;
	struct event e = *l->sample;
	const struct thread *thread = process_table_thread_at(l->processes, l->thread);

	e.kind = EVENT_OUTER_STACK;
	e.outer_stack = (struct event_outer_stack){
	        .id = outer,
	        .parent = parent,
	        .addresses = addresses,
	        .count = count,
	        .thread_name = process_table_name(l->processes, thread->name)};
	if (perf_record_encode(&l->out, &l->file_attrs.items[e.attr], l->sample_id, &e,
	                       &l->define_error))
		return; /* told when the sample is done */
}

static void add_attrs(struct live_stacks *l)
{
	perf_decoder_init(&l->decoder);
	vec_each (event, &l->plan->events) {
		vec_push(&l->file_attrs, plan_file_attr(event));
		perf_decoder_add_attr(&l->decoder, &event->attr, event->ids.items,
		                      event->ids.count);
	}
	perf_decoder_seal(&l->decoder);
}

struct live_stacks *live_stacks_new(const struct plan *plan, struct perf_source *source,
                                    struct perf_data_writer *writer, const proc_ids *tasks,
                                    enum stack_method method)
{
	struct live_stacks *l = xcalloc(1, sizeof(*l));
	struct stack_walk_options options = {
	        .method = method, .live = true, .define = define_outer, .ctx = l};
	struct error no_cache = {0};

	l->plan = plan;
	l->writer = writer;
	l->tasks = tasks;
	add_attrs(l);
	l->merge = ring_merge_new(&l->decoder);
	for (size_t i = 0; i < perf_source_cpu_count(source); i++) {
		ring_merge_add(l->merge, perf_source_ring(source, i), i);
		ring_merge_add(l->merge, perf_source_track_ring(source, i), i);
	}
	shed_init(&l->shed, plan, source);
	image_table_init(&l->images);
	l->processes = process_table_new(&l->images);
	/* Without one, tables are compiled each time: slower, not worse. */
	if (cache_dir_open(&l->cache, &no_cache))
		l->cache = NULL;
	options.cache = l->cache;
	l->walk = stack_walk_new(l->processes, &l->images, &options);
	return l;
}

void live_stacks_keeper(struct live_stacks *l, struct keeper *keeper)
{
	l->keeper = keeper;
}

void live_stacks_free(struct live_stacks *l)
{
	if (!l)
		return;
	stack_walk_free(l->walk);
	cache_dir_close(l->cache);
	process_table_free(l->processes);
	image_table_done(&l->images);
	shed_done(&l->shed);
	ring_merge_free(l->merge);
	perf_decoder_done(&l->decoder);
	vec_done(&l->file_attrs);
	buf_done(&l->out);
	free(l);
}

void live_stacks_event(struct live_stacks *l, const struct event *e)
{
	bool ends = e->kind == EVENT_EXIT || (e->kind == EVENT_COMM && e->comm.exec);

	if (ends) {
		uint32_t thread = process_table_find_thread(l->processes, e->pid, e->tid);

		if (thread != ID_NONE)
			stack_walk_forget(l->walk, thread);
	}
	process_table_event(l->processes, e);
}

/* Where children inherited the event, they got the period of that moment with it. */
static bool opened_by_us(const struct live_stacks *l, int32_t tid)
{
	if (l->plan->machine_wide)
		return true;
	vec_each (task, l->tasks)
		if (*task == tid)
			return true;
	return false;
}

static void walk(struct live_stacks *l, struct event *e)
{
	struct stack_walk_result walked = {.end = STACK_NONE};
	uint32_t process;

	l->sample = e;
	if (e->sample.regs) {
		l->thread = process_table_thread(l->processes, e->pid, e->tid);
		process = process_table_thread_at(l->processes, l->thread)->process;
		stack_walk_sample(l->walk, process, l->thread, e, &walked);
	}
	stack_chain_join(&walked, &e->sample, l->chain, CHAIN_MAX);
}

static int take_sample(struct live_stacks *l, const struct ring_record *record, struct error *err)
{
	const struct perf_event_attr *attr;
	struct event e;
	size_t start;
	int status;

	if (perf_decoder_decode(&l->decoder, record->bytes, record->size, &e) != PERF_DECODED)
		return 0; /* of no event that we opened: no kernel does that */
	attr = &l->file_attrs.items[e.attr];
	if (!(attr->sample_type & PERF_SAMPLE_TRANSACTION)) {
		buf_add(&l->out, record->bytes, record->size);
		return 0;
	}
	l->sample_id = load_u64(record->bytes + PERF_RECORD_HEADER_SIZE);
	if (l->shed.changes.count && opened_by_us(l, e.tid))
		e.sample.period =
		        shed_period(&l->shed, e.attr, record->cpu, e.time_ns, e.sample.period);
	/* First: of a file that is gone there has to be a copy before stacks lead through it. */
	keeper_hits(l->keeper, &e.sample.ip, 1);
	walk(l, &e);
	keeper_hits(l->keeper, e.sample.chain, e.sample.chain_count);
	start = l->out.size;
	status = perf_record_encode(&l->out, attr, l->sample_id, &e, err);
	/* The kernel's own bits, of which an event keeps a few. */
	if (!status)
		memcpy(l->out.data + start + 4, record->bytes + 4, sizeof(uint16_t));
	if (!status && l->define_error.code) {
		*err = l->define_error;
		status = -err->code;
	}
	return status;
}

static void learn(struct live_stacks *l, const struct ring_record *record)
{
	struct event e;

	if (perf_decoder_decode(&l->decoder, record->bytes, record->size, &e) != PERF_DECODED)
		return;
	if (e.kind == EVENT_LOST)
		l->lost += e.lost.count;
	else
		live_stacks_event(l, &e);
}

static int take_record(struct live_stacks *l, const struct ring_record *record, struct error *err)
{
	switch (load_u32(record->bytes)) {
	case PERF_RECORD_SAMPLE:
		return take_sample(l, record, err);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		learn(l, record);
		break;
	}
	buf_add(&l->out, record->bytes, record->size);
	return 0;
}

static int write_out(struct live_stacks *l, struct error *err)
{
	int status = perf_data_writer_append(l->writer, l->out.data, l->out.size, err);

	buf_clear(&l->out);
	return status;
}

int live_stacks_read(struct live_stacks *l, bool last, struct error *err)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t until = last ? UINT64_MAX : now - SETTLE_NS, lost = l->lost;
	uint64_t deep = stack_walk_counts(l->walk)->memory_reads;
	double fullest = ring_merge_begin(l->merge);
	struct ring_record record;
	int status = 0;

	while (!status && ring_merge_next(l->merge, until, &record)) {
		status = take_record(l, &record, err);
		if (!status && l->out.size > OUT_BYTES)
			status = write_out(l, err);
	}
	ring_merge_end(l->merge);
	l->deep = stack_walk_counts(l->walk)->memory_reads > deep;
	if (status)
		return status;
	if (!last)
		shed_look(&l->shed, fullest, l->lost > lost, clock_ns(CLOCK_MONOTONIC));
	perf_record_finished_round(&l->out);
	status = write_out(l, err);
	l->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	return status;
}

bool live_stacks_deep(const struct live_stacks *l)
{
	return l->deep;
}

void live_stacks_account(const struct live_stacks *l, struct account *account)
{
	const struct stack_walk_counts *c = stack_walk_counts(l->walk);

	account->unwind = (struct account_unwind){
	        .samples = c->samples,
	        .frames = c->frames,
	        .by_frame_pointer = c->by_frame_pointer,
	        .stitched_frames = c->stitched_frames,
	        .memory_reads = c->memory_reads,
	        .tables = c->tables,
	        .table_rows = c->table_rows,
	        .table_ns = c->table_ns,
	        .cpu_ns = l->cpu_ns,
	};
	shed_account(&l->shed, account);
}
