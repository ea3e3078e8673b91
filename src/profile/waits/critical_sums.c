/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/critical_sums.h"

#include <stdlib.h>

struct adding {
	struct critical_path *c;
	const struct profile *p;
	struct id_table index; /* of c->sums */
};

static bool sum_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct critical_sum *a = &((const struct critical_path *)ctx)->sums.items[id];
	const struct critical_sum *b = key;

	return a->thread == b->thread && a->path == b->path && a->kind == b->kind &&
	       a->woken == b->woken;
}

static struct critical_sum *find(struct adding *a, const struct critical_sum *key)
{
	uint64_t hash = hash_pair((uint64_t)key->thread << 32 | key->path,
	                          (uint64_t)key->kind << 8 | key->woken);
	uint32_t id = id_table_find(&a->index, hash, sum_equal, a->c, key);

	if (id == ID_NONE) {
		id = (uint32_t)a->c->sums.count;
		vec_push(&a->c->sums, *key);
		id_table_add(&a->index, hash, id);
	}
	return &a->c->sums.items[id];
}

/* The segment that contains the time, or NULL. */
static const struct critical_segment *segment_at(const struct critical_path *c, uint64_t time_ns)
{
	size_t low = 0, high = c->segments.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->segments.items[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->segments.count && c->segments.items[low].start_ns <= time_ns
	               ? &c->segments.items[low]
	               : NULL;
}

/* Counts the samples of the clock in on-CPU segments: `ns` is their weight at first. */
static void add_samples(struct adding *a, uint32_t track)
{
	struct time_cursor cursor;
	struct time_entry e;

	time_axis_seek(&cursor, &a->p->axis, track, a->c->from_ns);
	while (time_axis_next(&cursor, &e) && e.time_ns < a->c->to_ns) {
		const struct critical_segment *s = segment_at(a->c, e.time_ns);
		const struct profile_row *row = &a->p->rows.items[e.row];
		struct critical_sum *sum;

		if (!s || s->kind != CRITICAL_ON_CPU || s->thread != row->thread)
			continue;
		sum = find(a, &(struct critical_sum){.thread = row->thread,
		                                     .path = row->path,
		                                     .kind = CRITICAL_ON_CPU});
		sum->ns += e.weight;
		sum->count += e.samples;
	}
}

static int by_thread(const void *a, const void *b)
{
	const struct critical_sum *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

/* Divides `ns` among sums in proportion to their weights; the rest of one is carried to the next.
 */
static void divide(struct critical_sum *sums, size_t count, uint64_t ns)
{
	unsigned __int128 weights = 0, until = 0;
	uint64_t given = 0;

	for (size_t i = 0; i < count; i++)
		weights += sums[i].ns;
	sums[0].ns += !weights;
	weights += !weights;
	for (size_t i = 0; i < count; i++) {
		uint64_t upto;

		until += sums[i].ns;
		upto = (uint64_t)(until * ns / weights);
		sums[i].ns = upto - given;
		given = upto;
	}
}

/* Replaces the weights of samples by parts of the thread's on-CPU time. */
static void divide_on_cpu(struct critical_path *c, const uint64_t *on_cpu)
{
	size_t count = c->sums.count;

	if (count)
		qsort(c->sums.items, count, sizeof(*c->sums.items), by_thread);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && c->sums.items[end].thread == c->sums.items[i].thread;)
			end++;
		divide(&c->sums.items[i], end - i, on_cpu[c->sums.items[i].thread]);
	}
}

/* On-CPU time of threads without a sample in it. */
static void add_unsampled(struct adding *a, uint64_t *on_cpu, size_t threads)
{
	size_t sampled = a->c->sums.count;

	for (size_t i = 0; i < sampled; i++)
		on_cpu[a->c->sums.items[i].thread] = 0;
	for (uint32_t i = 0; i < threads; i++)
		if (on_cpu[i])
			vec_push(&a->c->sums, (struct critical_sum){.thread = i,
			                                            .path = ID_NONE,
			                                            .kind = CRITICAL_ON_CPU,
			                                            .ns = on_cpu[i]});
}

static void add_on_cpu(struct adding *a)
{
	size_t threads = process_table_thread_count(a->p->processes);
	uint64_t *on_cpu = xcalloc(threads + 1, sizeof(*on_cpu));
	uint8_t clock = profile_clock_event(a->p);

	vec_each (s, &a->c->segments)
		if (s->kind == CRITICAL_ON_CPU)
			on_cpu[s->thread] += s->end_ns - s->start_ns;
	if (clock < a->p->events.count && a->p->events.items[clock].role == ATTR_CLOCK)
		vec_each (track, &a->p->axis.tracks)
			if (track->event == clock)
				add_samples(a, (uint32_t)(track - a->p->axis.tracks.items));
	divide_on_cpu(a->c, on_cpu);
	add_unsampled(a, on_cpu, threads);
	free(on_cpu);
}

static int by_ns(const void *a, const void *b)
{
	const struct critical_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return by_thread(a, b);
}

void critical_sums(struct critical_path *c, const struct profile *p)
{
	struct adding a = {.c = c, .p = p};

	add_on_cpu(&a);
	id_table_clear(&a.index);
	vec_each (s, &c->segments) {
		struct critical_sum *sum;

		if (s->kind == CRITICAL_ON_CPU)
			continue;
		sum = find(&a, &(struct critical_sum){.thread = s->thread,
		                                      .path = s->path,
		                                      .kind = s->kind,
		                                      .woken = s->woken});
		sum->ns += s->end_ns - s->start_ns;
		sum->count++;
	}
	id_table_done(&a.index);
	if (c->sums.count)
		qsort(c->sums.items, c->sums.count, sizeof(*c->sums.items), by_ns);
}
