/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/graph_cost.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "base/memory/vec.h"

#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCHES 15
#define CALLS 400         /* calls per batch: their records fit in a buffer of 512 KB */
#define FUNCTIONS_MAX 64  /* maximum number of distinct functions */
#define LEAF_CALLS_MIN 50 /* minimum per batch, for a median */

/* Times of calls of a function without callees, in one batch. */
struct leaf {
	uint64_t function;
	VEC(double) ns;
};

struct graph_cost_batch {
	int32_t task;
	uint64_t entries;
	bool lost;
	struct graph_event last; /* the previous event */
	struct leaf leaves[FUNCTIONS_MAX];
	size_t leaf_count;
};

/* By CPU time: the tracer's work is charged to the thread, and other programs do not count. */
static double run_calls(size_t count)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (size_t i = 0; i < count; i++)
		syscall(SYS_getppid);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
}

/* The median of several batches, since interrupts and the host take time, too. */
double graph_cost_native(void)
{
	double ns[BATCHES];

	for (size_t i = 0; i < BATCHES; i++)
		ns[i] = run_calls(CALLS) / CALLS;
	sorted_doubles(ns, BATCHES);
	return ns[BATCHES / 2];
}

static void add_leaf(struct graph_cost_batch *b, uint64_t function, double ns)
{
	size_t i = 0;

	while (i < b->leaf_count && b->leaves[i].function != function)
		i++;
	if (i == FUNCTIONS_MAX)
		return;
	if (i == b->leaf_count)
		b->leaves[b->leaf_count++].function = function;
	vec_push(&b->leaves[i].ns, ns);
}

static void take_event(void *ctx, const struct graph_event *e)
{
	struct graph_cost_batch *b = ctx;

	b->lost |= e->kind == GRAPH_LOST;
	if (e->kind == GRAPH_LOST || e->task != b->task)
		return;
	b->entries += e->kind == GRAPH_ENTRY;
	if (e->kind == GRAPH_EXIT && b->last.kind == GRAPH_ENTRY &&
	    b->last.function == e->function && b->last.cpu == e->cpu)
		add_leaf(b, e->function, (double)(e->time_ns - b->last.time_ns));
	b->last = *e;
}

static double quickest_leaf(struct graph_cost_batch *b)
{
	double best = NAN;

	for (size_t i = 0; i < b->leaf_count; i++) {
		struct leaf *l = &b->leaves[i];
		double median;

		if (l->ns.count < LEAF_CALLS_MIN)
			continue;
		sorted_doubles(l->ns.items, l->ns.count);
		median = l->ns.items[l->ns.count / 2];
		best = isnan(best) || median < best ? median : best;
	}
	return best;
}

static int read_all(struct function_graph *source, graph_event_fn *deliver, void *ctx,
                    struct error *err)
{
	for (size_t cpu = 0; cpu < function_graph_cpus(source); cpu++) {
		int got;

		do
			got = function_graph_read(source, cpu, deliver, ctx, err);
		while (got > 0);
		if (got)
			return got;
	}
	return 0;
}

/* Runs one batch. Returns its time, its number of entries, and the inner part of a call. */
static int run_batch(struct function_graph *source, size_t calls, double *ns, double *entries,
                     double *inner, bool *lost, struct error *err)
{
	struct graph_cost_batch b = {.task = (int32_t)getpid(), .last = {.kind = GRAPH_LOST}};
	int status = function_graph_switch(source, true, err);

	if (status)
		return status;
	*ns = run_calls(calls);
	status = function_graph_switch(source, false, err);
	if (!status)
		status = read_all(source, take_event, &b, err);
	*entries = (double)b.entries;
	*inner = quickest_leaf(&b);
	*lost = b.lost;
	for (size_t i = 0; i < b.leaf_count; i++)
		vec_done(&b.leaves[i].ns);
	return status;
}

/* The median; *error: half of the range without the two extreme values. */
static double middle(double *values, size_t count, double *error)
{
	sorted_doubles(values, count);
	*error = (values[count - 2] - values[1]) / 2;
	return values[count / 2];
}

int graph_cost_measure(struct graph_cost *cost, struct function_graph *source, double native_ns,
                       struct error *err)
{
	double ns, idle, entries, inner, inners[BATCHES], totals[BATCHES], error;
	size_t count = 0;
	bool lost;
	int status = run_batch(source, 0, &ns, &idle, &inner, &lost, err);

	*cost = (struct graph_cost){.inner_error_ns = NAN, .outer_error_ns = NAN};
	for (size_t i = 0; i < BATCHES && !status; i++) {
		status = run_batch(source, CALLS, &ns, &entries, &inner, &lost, err);
		if (status || lost || isnan(inner) || entries - idle < CALLS)
			continue;
		inners[count] = inner;
		totals[count++] = (ns - CALLS * native_ns) / (entries - idle);
	}
	if (status || count < 3)
		return status;
	cost->inner_ns = middle(inners, count, &cost->inner_error_ns);
	cost->outer_ns = middle(totals, count, &error) - cost->inner_ns;
	cost->outer_error_ns = error + cost->inner_error_ns;
	cost->known = true;
	return 0;
}
