/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/calls/calls_file_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer double readings the calibration is more precise. */
#define SAMPLES_MIN 30
#define NORMAL_95 1.96
/* Parts of the cost of a counted call: the overlap with the function, and its error. */
#define OVERLAP 0.45
#define OVERLAP_ERROR 0.2
#define OVERLAP_ERROR_SHORT 0.4 /* of calls shorter than SHORT_NS */
#define SHORT_NS 12.0
#define OVERLAP_MOST 0.9 /* maximum of the overlap, as a part of the samples in the hooks */
/*
 * The speed of a processor is not constant, and interrupts take a part of the time: what the clock
 * timed is known to this part.
 */
#define CLOCK_ERROR 0.01
/* The error of the measured cost of a sample, as a part of it. */
#define COST_ERROR 0.3

/*
 * The cost of a call for a thread, in ticks, with half of a 95 % interval of each. `inner` is for a
 * short call; `table` gives the difference for longer calls.
 */
struct cost {
	double inner, outer, inner_error, outer_error;
	const struct assay_calls_cost *table; /* NULL: the times were sampled and have no cost */
	double overlap; /* of a thread whose times were sampled: overlap_of() */
};

struct calls_reader {
	struct calls_file_table table;
	struct calls_base base;
	struct calls_functions functions;
	struct call_process *process; /* valid until the next process is added */
	VEC(uint32_t) walk;           /* nodes on the path to a root */
	double calls, inner, outer;   /* number of calls that have a cost; ticks of both parts */
	VEC(double) timed;            /* of each path: calls that the clock timed */
};

/*
 * A hook may cost more or less than at its calibration, because it shares caches with the program.
 * One in some hundred hooks reads the clock twice, as the calibration did; the difference of the
 * two means is a second estimate of the cost. Each estimate is weighted by its precision, so that
 * an interrupt within a few readings does not spoil the calibrated value. A double reading orders
 * the instructions around it, so it shows the whole delay of a hook. A processor hides a part of
 * it, from none to all: half of the difference is subtracted, and half of it is a further error.
 */
static void cost_correct(const struct assay_calls_sample *s, int32_t read, double *cost,
                         double *error)
{
	double count = (double)s->count, sum = (double)s->sum;
	double calibrated = *error * *error, sampled, all, half;

	if (s->count < SAMPLES_MIN)
		return;
	sampled = ((double)s->squares - sum * sum / count) / (count - 1) / count;
	sampled = sampled > 0 ? sampled * NORMAL_95 * NORMAL_95 : 0;
	all = calibrated + sampled;
	half = (sum / count - read / 1024.0) * (all > 0 ? calibrated / all : 1) / 2;
	*cost += half;
	*error += fabs(half);
}

static struct cost cost_of(const struct calls_file_table *t, const struct calls_thread_item *thread)
{
	const struct assay_calls_cost *c = &t->header.cost;
	struct cost cost = {c->inner / 1024.0,
	                    c->outer / 1024.0,
	                    c->inner_error / 1024.0,
	                    c->outer_error / 1024.0,
	                    c,
	                    0};

	if (thread->record.period) /* the hooks subtracted it already */
		return (struct cost){.inner_error = cost.inner_error,
		                     .outer_error = cost.outer_error};
	cost_correct(&thread->record.enter, c->enter_read, &cost.inner, &cost.inner_error);
	cost_correct(&thread->record.exit, c->exit_read, &cost.outer, &cost.outer_error);
	return cost;
}

/* The cost within a callee that lasts `told` ticks, cost included, by the calibrated lengths. */
static double inner_at(const struct cost *cost, double told)
{
	const struct assay_calls_cost *t = cost->table;
	uint32_t count = t ? t->length_count : 0, i = 0;
	double inner, step;

	if (count > ASSAY_CALLS_LENGTHS)
		count = ASSAY_CALLS_LENGTHS;
	while (i < count && t->lengths[i].net < told * 1024)
		i++;
	if (!i)
		return cost->inner;
	inner = t->lengths[i - 1].inner;
	if (i < count) {
		step = (double)t->lengths[i].net - t->lengths[i - 1].net;
		step = step > 0 ? (told * 1024 - t->lengths[i - 1].net) / step : 0;
		inner += ((double)t->lengths[i].inner - inner) * fmin(step, 1);
	}
	return cost->inner + (inner - t->inner) / 1024;
}

/* ---- nodes ------------------------------------------------------------- */

/* The path of a node, which is added together with its ancestors; CALL_PATH_NONE: invalid. */
static uint32_t path_of(struct calls_reader *r, uint32_t index)
{
	struct calls_node *nodes = r->table.nodes.items;
	uint32_t path = 0, i = index;

	r->walk.count = 0;
	while (i != ID_NONE && nodes[i].path == CALLS_PATH_UNSEEN) {
		nodes[i].path = CALLS_PATH_VISITED;
		vec_push(&r->walk, i);
		i = nodes[i].parent;
	}
	if (i != ID_NONE)
		path = nodes[i].path == CALLS_PATH_VISITED ? CALL_PATH_NONE : nodes[i].path;
	for (size_t n = r->walk.count; n--;) {
		struct calls_node *node = &nodes[r->walk.items[n]];
		bool root = node->parent == ID_NONE;
		bool outside = !(node->function & ASSAY_FN_GONE) &&
		               (node->function & ASSAY_FN_ADDRESS) == ASSAY_FN_OUTSIDE;

		if (path == CALL_PATH_NONE || (outside && !root)) {
			path = CALL_PATH_NONE;
			r->table.damaged = true;
		} else if (!outside) {
			path = call_path_child(r->process, path,
			                       calls_functions_get(&r->functions, node->function));
		}
		node->path = path;
	}
	return nodes[index].path;
}

/* A path without calls or time is omitted, unless it has paths below it. */
static bool node_says(const struct calls_reader *r, const struct calls_node *node)
{
	return r->table.recording || node->function & ASSAY_FN_INHERITED || node->calls ||
	       node->net || node->blocked || node->preempted || node->open || node->samples;
}

/* True if shortest and longest cover the same time as the other figures: since the last reset. */
static bool range_holds(const struct calls_reader *r, const struct calls_node *node)
{
	uint32_t epoch = r->table.threads.items[node->thread].record.epoch;

	if (node->min == INT64_MAX || node->max == INT64_MIN)
		return false;
	return r->table.recording || (epoch == r->table.header.epoch &&
	                              (!r->base.there || epoch != r->base.table.header.epoch));
}

/* The part of a node's time that comes from samples; its calls were counted without the clock. */
static double sampled_share(const struct calls_node *node, double period)
{
	double sampled = (double)node->samples * period, clock = fmax((double)node->net, 0);

	return sampled > 0 ? sampled / (sampled + clock) : 0;
}

/*
 * The time, in ticks, that a call loses to the hooks around it, where the clock is not read. A
 * processor executes the code after a hook while it completes the hook, and samples count the
 * instruction that is being completed. This part of the hook's cost is the function's time. It is
 * not more than the samples in the hooks allow.
 */
static double overlap_of(struct calls_reader *r, uint32_t thread)
{
	const struct assay_calls_thread *record = &r->table.threads.items[thread].record;
	double period = (double)record->period, calls = 0;
	double all = r->table.header.counted_cost / 1024.0 * OVERLAP, most;

	vec_each (node, &r->table.nodes)
		if (node->thread == thread)
			calls += (double)node->calls * sampled_share(node, period);
	most = calls > 0 ? (double)record->own_samples * period * OVERLAP_MOST / calls : 0;
	return fmax(fmin(all, most), 0);
}

/*
 * True if calls of the node may have been counted while the thread was sampled. A node without a
 * sample may have been: how many of its calls the clock timed is not known. A single call that was
 * timed from its begin to its end was not.
 */
static bool may_be_sampled(const struct assay_calls_thread *record, const struct calls_node *node)
{
	bool timed = node->calls == 1 && !node->open && node->min != INT64_MAX;

	return node->samples || (record->samples + record->own_samples && node->calls && !timed);
}

/*
 * Adds the time of a node's samples. Their scatter is not part of the error (call_error_ns()).
 */
static void samples_add(struct calls_reader *r, const struct calls_node *node, double overlap,
                        struct call_path *path, struct call_thread *thread)
{
	const struct assay_calls_header *h = &r->table.header;
	const struct assay_calls_thread *record = &r->table.threads.items[node->thread].record;
	double period = (double)record->period, rate = r->table.ns_per_tick;
	double calls = (double)node->calls, share = sampled_share(node, period);
	double counted = calls * share, sampled = (double)node->samples * period, part;
	double hooks = counted + (double)node->child_halves / 2 * share;

	path->samples += node->samples;
	path->is_sampled |= may_be_sampled(record, node);
	r->process->sample_ns = fmax(r->process->sample_ns, period * rate);
	part = counted > 0 && sampled / counted < SHORT_NS / rate ? OVERLAP_ERROR_SHORT
	                                                          : OVERLAP_ERROR;
	path->net_error_ns += rate * (hooks * part * h->counted_cost / 1024.0 +
	                              sampled * COST_ERROR * (double)record->period_cost / period);
	path->net_ns += (sampled + counted * overlap) * rate;
	thread->net_ns += (sampled + counted * overlap) * rate;
	thread->own_ns -= counted * overlap * rate;
	r->process->own_ns -= counted * overlap * rate;
}

/*
 * The program subtracted the calibrated cost from the durations of single calls. If another cost is
 * subtracted here, they are shifted by the same amount as the mean, which therefore stays between
 * the shortest and the longest.
 */
static double shift_of(const struct calls_node *node, const struct assay_calls_cost *c, double net,
                       double rate)
{
	double calls = (double)node->halves / 2, outer = (double)node->child_halves / 2;
	int32_t own = c ? c->inner / 1024 : 0,
	        callers = c ? c->outer / 1024 : 0; /* the runtime subtracts whole ticks */
	double told = (double)node->net - calls * own - outer * callers;

	return calls > 0 && c ? (net - told * rate) / calls : 0;
}

static void node_add(struct calls_reader *r, struct calls_node *node, uint32_t id,
                     const struct cost *cost, struct call_thread *thread)
{
	struct call_path *path = &r->process->paths.items[id];
	double rate = r->table.ns_per_tick;
	double calls = (double)node->halves / 2, outer = (double)node->child_halves / 2;
	double told = (double)node->net - outer * cost->outer;
	double inner = calls * (calls > 0 ? inner_at(cost, told / calls) : cost->inner);
	double own = (inner + outer * cost->outer) * rate, net = (double)node->net * rate - own;
	double error = (fabs(calls) * cost->inner_error + fabs(outer) * cost->outer_error) * rate;
	const struct assay_calls_thread *record = &r->table.threads.items[node->thread].record;

	/* Of the calls that the clock timed. */
	double timed = 1 - sampled_share(node, (double)record->period);

	node->times_error_ns = calls > 0 && !r->table.recording ? error / calls : 0;
	error = error * timed + CLOCK_ERROR * fabs(net) * !r->table.recording;
	while (r->timed.count <= id)
		vec_push(&r->timed, 0.0);
	r->timed.items[id] += calls * timed;

	path->calls += node->calls;
	path->net_ns += net;
	path->net_error_ns += error;
	path->blocked_ns += (double)node->blocked * rate;
	path->preempted_ns += (double)node->preempted * rate;
	path->blocked_count += node->blocked_count;
	path->preempted_count += node->preempted_count;
	path->inherited |= (node->function & ASSAY_FN_INHERITED) != 0;
	if (id)
		path->open += node->open;
	if (r->table.recording) {
		path->samples += node->samples;
		path->is_sampled |= node->samples != 0;
	}
	node->shift_ns = shift_of(node, cost->table, net, rate);
	if (range_holds(r, node))
		call_path_range(path, (double)node->min * rate + node->shift_ns,
		                (double)node->max * rate + node->shift_ns);
	if (record->period)
		samples_add(r, node, cost->overlap, path, thread);
	thread->net_ns += net;
	thread->blocked_ns += (double)node->blocked * rate;
	thread->preempted_ns += (double)node->preempted * rate;
	thread->own_ns += own;
	r->process->own_ns += own;
	r->inner += inner;
	r->outer += calls * cost->outer;
	r->calls += calls;
	r->process->own_error_ns += error;
}

/* The mean over all calls; without calls, the calibrated cost. */
static void mean_costs(struct calls_reader *r)
{
	const struct assay_calls_cost *c = &r->table.header.cost;
	bool any = r->calls > 0;

	r->process->inner_ns =
	        (any ? r->inner / r->calls : c->inner / 1024.0) * r->table.ns_per_tick;
	r->process->outer_ns =
	        (any ? r->outer / r->calls : c->outer / 1024.0) * r->table.ns_per_tick;
}

/*
 * Interrupts and other disturbances are in the net of calls that the clock timed, and fall on them
 * at random: the sum scatters as its calls do. Samples have their own scatter.
 */
static void scatter_add(struct calls_reader *r)
{
	for (uint32_t id = 0; id < r->timed.count; id++) {
		const struct call_times *times = call_path_times_of(r->process, id);

		if (times && r->timed.items[id] > 0)
			r->process->paths.items[id].net_error_ns +=
			        NORMAL_95 * sqrt(r->timed.items[id]) * call_times_scatter(times);
	}
}

/* In the order of units, which is the order of first calls. */
static void nodes_add(struct calls_reader *r, struct call_thread *threads)
{
	struct cost *costs = xcalloc(r->table.threads.count + 1, sizeof(*costs));

	for (uint32_t i = 0; i < r->table.threads.count; i++) {
		costs[i] = cost_of(&r->table, &r->table.threads.items[i]);
		if (r->table.threads.items[i].record.period)
			costs[i].overlap = overlap_of(r, i);
	}
	/* Nodes of a recording are different paths, but nodes of several threads may be the same
	 * path. */
	if (r->table.recording)
		path_tree_reserve(&r->process->index, r->table.nodes.count);
	for (uint32_t i = 0; i < r->table.nodes.count; i++) {
		struct calls_node *node = &r->table.nodes.items[i];
		uint32_t id = node_says(r, node) ? path_of(r, i) : CALL_PATH_NONE;

		if (id == CALL_PATH_NONE)
			continue;
		node_add(r, node, id, &costs[node->thread], &threads[node->thread]);
	}
	vec_each (item, &r->table.times) {
		const struct calls_node *node = &r->table.nodes.items[item->node];

		if (node->path < r->process->paths.count)
			calls_times_add(item, r->table.ns_per_tick, node,
			                call_path_times(r->process, node->path));
	}
	if (!r->table.recording)
		scatter_add(r);
	mean_costs(r);
	free(costs);
}

/* ---- threads and the process ------------------------------------------- */

static uint32_t short_text(struct call_paths *into, const char *text, size_t room)
{
	char *copy = xstrndup(text, room);
	uint32_t id = intern_add(&into->images.names, copy);

	free(copy);
	return id;
}

/* Each term is a sum of its own; the residual between them is shown. */
static void thread_close(struct calls_reader *r, const struct calls_thread_item *item,
                         struct call_thread *thread)
{
	double rate = r->table.ns_per_tick, own = (double)(int64_t)item->record.own * rate;

	thread->tid = item->record.tid;
	thread->name = short_text(r->functions.into, item->record.name, sizeof(item->record.name));
	thread->threads = item->record.threads;
	thread->wall_ns = item->wall * rate;
	thread->tail_ns = item->tail * rate;
	thread->cpu_ns = item->cpu_ns;
	thread->own_ns += own;
	r->process->own_ns += own;
	r->process->samples += item->record.samples;
	r->process->own_samples += item->record.own_samples;
	thread->cpu_residual_ns = thread->net_ns + thread->own_ns - thread->cpu_ns;
	thread->wall_residual_ns = thread->net_ns + thread->own_ns + thread->blocked_ns +
	                           thread->preempted_ns + thread->tail_ns - thread->wall_ns;
}

static void threads_add(struct calls_reader *r)
{
	struct call_thread *threads = xcalloc(r->table.threads.count + 1, sizeof(*threads));

	nodes_add(r, threads);
	for (size_t i = 0; i < r->table.threads.count && !r->table.recording; i++) {
		thread_close(r, &r->table.threads.items[i], &threads[i]);
		vec_push(&r->process->threads, threads[i]);
	}
	free(threads);
}

static uint64_t process_begin(const struct calls_reader *r, uint64_t end)
{
	uint64_t begin = end;

	if (r->base.there)
		return r->base.table.header.latest.ticks;
	vec_each (thread, &r->table.threads)
		if (thread->record.first && thread->record.first < begin)
			begin = thread->record.first;
	return begin;
}

/* Flags whose counter has not changed since the reset. */
static uint32_t flags_of_nothing(const struct calls_reader *r)
{
	const struct call_process *p = r->process;
	const struct assay_calls_header *h = &r->table.header, *was = &r->base.table.header;

	if (!r->base.there)
		return 0;
	return (p->other_calls ? 0 : CALL_FULL | CALL_DEEP) | (p->lost_events ? 0 : CALL_LOST) |
	       (p->unmatched_exits ? 0 : CALL_UNMATCHED) | (p->resyncs ? 0 : CALL_RESYNCED) |
	       (h->nested_stacks > was->nested_stacks ? 0 : CALL_STACKS);
}

static uint32_t flags_of(const struct calls_reader *r, const struct calls_state *state)
{
	uint32_t flags = r->table.header.flags & 0xffff;

	if (state && state->running)
		flags |= CALL_RUNNING;
	else if (r->table.header.state == ASSAY_CALLS_MOVED)
		flags |= CALL_MOVED;
	else if (r->table.header.state != ASSAY_CALLS_EXITED)
		flags |= CALL_END_UNKNOWN | (r->table.header.end_ticks ? 0 : CALL_NO_END);
	return flags | (r->base.there ? CALL_RESET : 0);
}

static void process_fill(struct calls_reader *r, const struct calls_state *state)
{
	const struct assay_calls_header *h = &r->table.header, *was = &r->base.table.header;
	uint64_t end = calls_table_end(&r->table, state), begin = process_begin(r, end);
	struct call_process *p = r->process;

	p->command = short_text(r->functions.into, h->command, sizeof(h->command));
	p->parent = h->parent;
	p->birth = h->birth;
	p->start_ns = h->start_ns;
	p->flags = flags_of(r, state);
	p->wall_ns = end > begin ? (double)(end - begin) * r->table.ns_per_tick : 0;
	if (r->base.there && begin > h->first.ticks)
		p->start_ns += (uint64_t)fmin(
		        (double)(begin - h->first.ticks) * r->table.ns_per_tick, 0x1p62);
	/* Without a baseline its header is zeros. */
	p->lost_events = h->lost_events - was->lost_events;
	p->other_calls = h->other_calls - was->other_calls;
	p->unmatched_exits = h->unmatched_exits - was->unmatched_exits;
	p->resyncs = h->resyncs - was->resyncs;
	p->deferred = h->deferred - was->deferred;
	p->flags &= ~flags_of_nothing(r);
	p->table_bytes = h->used_bytes;
}

static double book_ns(const struct calls_reader *r, int64_t ticks)
{
	return ticks == ASSAY_CALLS_UNKNOWN ? NAN : (double)ticks * r->table.ns_per_tick;
}

static void book_add(struct calls_reader *r, const struct assay_calls_book *raw)
{
	struct call_thread *thread = vec_add(&r->process->threads);

	thread->tid = raw->tid;
	thread->name = intern_add(&r->functions.into->images.names,
	                          calls_table_text(&r->table, raw->name));
	thread->threads = raw->threads;
	thread->wall_ns = book_ns(r, raw->wall);
	thread->cpu_ns = book_ns(r, raw->cpu);
	thread->net_ns = book_ns(r, raw->net);
	thread->own_ns = book_ns(r, raw->own);
	thread->blocked_ns = book_ns(r, raw->blocked);
	thread->preempted_ns = book_ns(r, raw->preempted);
	thread->tail_ns = book_ns(r, raw->tail);
	thread->cpu_residual_ns = book_ns(r, raw->cpu_residual);
	thread->wall_residual_ns = book_ns(r, raw->wall_residual);
}

static void more_add(struct calls_reader *r, const struct assay_calls_more *raw)
{
	uint32_t i = calls_table_node(&r->table, raw->node);
	uint32_t id = i == ID_NONE ? CALL_PATH_NONE : r->table.nodes.items[i].path;

	if (id >= r->process->paths.count) {
		r->table.damaged = true;
		return;
	}
	r->process->paths.items[id].open += raw->open;
	r->process->paths.items[id].is_sampled |= raw->is_sampled;
	r->process->paths.items[id].net_error_ns += book_ns(r, raw->net_error);
}

static void recording_fill(struct calls_reader *r)
{
	const struct assay_calls_books *b = &r->table.books;
	struct call_process *p = r->process;
	struct assay_calls_book book;
	struct assay_calls_more more;

	p->name =
	        intern_add(&r->functions.into->images.names, calls_table_text(&r->table, b->name));
	p->command = intern_add(&r->functions.into->images.names,
	                        calls_table_text(&r->table, b->command));
	p->flags = b->flags;
	p->wall_ns = book_ns(r, b->wall);
	p->own_ns = book_ns(r, b->own);
	p->own_error_ns = book_ns(r, b->own_error);
	p->inner_ns = book_ns(r, b->inner) / 1024;
	p->outer_ns = book_ns(r, b->outer) / 1024;
	p->table_bytes = b->table_bytes;
	p->uncounted = b->uncounted;
	p->sample_ns = book_ns(r, b->sample);
	p->samples = b->samples;
	p->own_samples = b->own_samples;
	vec_each (c, &r->table.chunks) {
		for (uint64_t i = 0; c->kind == ASSAY_CHUNK_BOOK && i < c->used; i++) {
			memcpy(&book, r->table.bytes + c->offset + i * sizeof(book), sizeof(book));
			book_add(r, &book);
		}
		for (uint64_t i = 0; c->kind == ASSAY_CHUNK_MORE && i < c->used; i++) {
			memcpy(&more, r->table.bytes + c->offset + i * sizeof(more), sizeof(more));
			more_add(r, &more);
		}
	}
}

/* ---- a table, a file ---------------------------------------------------- */

static void reader_add(struct calls_reader *r, struct call_paths *into,
                       const struct calls_state *state)
{
	char *name = xstrndup(r->table.header.name, sizeof(r->table.header.name));
	int32_t pid = state && state->running ? r->table.header.pid : 0;
	uint32_t id = call_paths_process(into, name, r->table.header.pid);

	free(name);
	r->process = &into->processes.items[id];
	calls_functions_init(&r->functions, into, &r->table, pid);
	if (r->table.recording)
		calls_functions_name(&r->functions);
	threads_add(r);
	process_fill(r, state);
	if (r->table.recording)
		recording_fill(r);
	if (r->table.damaged || r->base.table.damaged)
		r->process->flags |= CALL_DAMAGED;
	calls_functions_done(&r->functions);
}

int calls_file_read(struct call_paths *into, const void *bytes, size_t size, const char *name,
                    const struct calls_state *state, size_t *used, struct error *err)
{
	struct calls_reader r = {0};
	calls_thread_states clocks = {0};
	struct calls_state ended = {0};
	int rc = calls_table_open(&r.table, bytes, size, name, err);

	if (rc)
		return rc;
	/* The process exited after it was found and before its table was copied. */
	if (state && r.table.header.state != ASSAY_CALLS_RUNNING) {
		ended = *state;
		ended.running = ended.live = false;
		state = &ended;
	}
	calls_table_rate(&r.table, state);
	/* The end of the process is known, with the clocks of the threads at that time. */
	if (!r.table.recording && !(state && state->live) && r.table.header.end_ticks &&
	    calls_clocks_read(&r.table, &clocks)) {
		ended = state ? *state : ended;
		ended.live = true;
		ended.now = r.table.header.end_ticks;
		ended.threads = clocks.items;
		ended.thread_count = clocks.count;
		state = &ended;
	}
	rc = calls_base_open(&r.base, &r.table, state, name, err);
	if (!rc) {
		calls_table_settle(&r.table, state, &r.base.then);
		calls_base_subtract(&r.base, &r.table);
		reader_add(&r, into, state);
		if (used)
			*used = r.table.size;
	}
	vec_done(&r.walk);
	vec_done(&r.timed);
	vec_done(&clocks);
	calls_table_done(&r.table);
	calls_base_done(&r.base);
	return rc;
}
