/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function events of all CPUs are delivered in time order. The source is simulated. */
#include "launch/calls/graph_merge.h"

#include "base/memory/vec.h"
#include "check.h"

#define CPUS 3
#define PAGES 64

/* Contents of each CPU's buffer: times, at most 4 per page. */
struct function_graph {
	struct {
		uint64_t times[PAGES][4];
		size_t written, read;
	} cpus[CPUS];
};

size_t function_graph_cpus(const struct function_graph *g)
{
	return CPUS;
}

int function_graph_read(struct function_graph *g, size_t cpu, graph_event_fn *deliver, void *ctx,
                        struct error *err)
{
	int count = 0;

	if (g->cpus[cpu].read == g->cpus[cpu].written)
		return 0;
	for (const uint64_t *time = g->cpus[cpu].times[g->cpus[cpu].read++];
	     count < 4 && time[count]; count++)
		deliver(ctx, &(struct graph_event){.cpu = (uint32_t)cpu, .time_ns = time[count]});
	return count;
}

static void write_page(struct function_graph *g, size_t cpu, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t *page = g->cpus[cpu].times[g->cpus[cpu].written++];

	page[0] = a;
	page[1] = b;
	page[2] = c;
}

struct taken {
	VEC(uint64_t) times;
};

static void take(void *ctx, const struct graph_event *e)
{
	struct taken *t = ctx;

	vec_push(&t->times, e->time_ns);
}

static bool in_order(const struct taken *t)
{
	for (size_t i = 1; i < t->times.count; i++)
		if (t->times.items[i] < t->times.items[i - 1])
			return false;
	return true;
}

static void late_records_are_waited_for(void)
{
	struct function_graph g = {0};
	struct taken t = {0};
	struct graph_merge *m = graph_merge_new(&g, take, &t);
	bool busy;

	write_page(&g, 0, 10, 20, 30);
	graph_merge_round(m, &busy, NULL);
	/* CPU 1 has an older event that was not read yet. */
	CHECK_EQ(t.times.count, 0);
	CHECK(!busy);
	write_page(&g, 1, 5, 25, 35);
	graph_merge_round(m, &busy, NULL);
	/* Delivers events up to the end of the previous round. */
	CHECK_EQ(t.times.count, 5);
	write_page(&g, 2, 31, 40, 0);
	graph_merge_finish(m, NULL);
	CHECK_EQ(t.times.count, 8);
	CHECK(in_order(&t));
	CHECK_EQ(graph_merge_newest_ns(m), 40);
	graph_merge_free(m);
	vec_done(&t.times);
}

static void many_pages_of_all_cpus_stay_in_order(void)
{
	struct function_graph *g = xcalloc(1, sizeof(*g));
	struct taken t = {0};
	struct graph_merge *m = graph_merge_new(g, take, &t);
	uint64_t now = 1, written = 0;
	uint32_t seed = 7;
	bool busy;

	for (int page = 0; page < PAGES * CPUS; page++) {
		size_t cpu;

		seed = seed * 1103515245 + 12345;
		cpu = (seed >> 16) % CPUS;
		if (g->cpus[cpu].written == PAGES)
			continue;
		/* A page becomes visible with its last event, while other CPUs continue. */
		write_page(g, cpu, now + cpu, now + 2 + cpu, now + 5);
		now += 6;
		written += 3;
		if (seed & 0x40000)
			graph_merge_round(m, &busy, NULL);
	}
	graph_merge_finish(m, NULL);
	CHECK_EQ(t.times.count, written);
	CHECK(written > 300);
	CHECK(in_order(&t));
	graph_merge_free(m);
	vec_done(&t.times);
	free(g);
}

int main(void)
{
	RUN(late_records_are_waited_for);
	RUN(many_pages_of_all_cpus_stay_in_order);
	return check_end();
}
