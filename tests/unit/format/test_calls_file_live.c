/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of running processes, and counts since a reset.
 */
#include "calls_file_fixture.h"

#include <errno.h>

/* Blocked in b since its last event: of 12 us, 10 blocked, 1.5 on CPU, 0.5 runnable. */
static void the_time_since_the_last_event_is_reported(void)
{
	struct abc x = abc_new();
	struct calls_thread_state clocks = {4711, 5000 + 950 + 1500, 500, true};
	struct calls_state state = {.running = true, .live = true, .threads = &clocks};
	const struct call_thread *t;
	struct call_paths *c;

	state.now = FX_BEGIN + 1900 + 24000;
	state.now_ns = 7000000; /* does not change the rate */
	fx_header(x.f)->state = ASSAY_CALLS_RUNNING;
	fx_header(x.f)->end_ticks = 0;
	fx_record(x.f, x.thread)->current = x.b;
	c = read_with(x.f, &state); /* unknown clocks: count 0 */
	t = &process_of(c)->threads.items[0];
	CHECK_EQ(process_of(c)->flags, CALL_RUNNING);
	CHECK_NS(t->tail_ns, 12000);
	CHECK_NS(t->wall_residual_ns, 0);
	CHECK_NS(t->cpu_residual_ns, 0);
	call_paths_free(c);
	state.thread_count = 1;
	c = read_with(x.f, &state);
	t = &process_of(c)->threads.items[0];
	CHECK_NS(t->tail_ns, 0);
	CHECK_NS(t->wall_ns, 950 + 12000);
	CHECK_NS(t->wall_residual_ns, 0);
	CHECK_NS(t->cpu_residual_ns, 0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 10000);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->preempted_ns, 500);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 9.5 * 10) / 2 + 1500);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->open, 1);
	CHECK_NS(process_of(c)->wall_ns, 950 + 12000);
	call_paths_free(c);
	/*
	 * It was runnable for 0.5 us, at its wake-up or since. It is blocked now, so it was at its
	 * wake-up.
	 */
	fx_wait(x.f, x.thread, x.a, 2000, 0);
	clocks.runs = false;
	c = read_with(x.f, &state);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 10500);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->preempted_ns, 0);
	call_paths_free(c);
	/* It exited before it was copied: there is no time after the last event. */
	fx_header(x.f)->state = ASSAY_CALLS_EXITED;
	fx_header(x.f)->end_ticks = FX_BEGIN + 1900;
	c = read_with(x.f, &state);
	CHECK_EQ(process_of(c)->flags, 0);
	CHECK_NS(process_of(c)->threads.items[0].wall_ns, 950);
	call_paths_free(c);
	free(x.f);
}

/* The baseline of a reset: a copy of the table, followed by the clocks of its threads. */
static void *baseline(struct fx *f, uint64_t now, struct calls_thread_state clocks)
{
	struct fx *base = fx_new();
	struct assay_calls_clocks *raw;

	memcpy(base, f, sizeof(*f));
	raw = fx_unit(base, fx_chunk(base, ASSAY_CHUNK_CLOCKS, 0, 1));
	*raw = (struct assay_calls_clocks){
	        .tid = clocks.tid, .cpu_ns = clocks.cpu_ns, .runnable_ns = clocks.runnable_ns};
	fx_header(base)->latest = (struct assay_calls_moment){now, 8000000};
	return base;
}

/* No time has passed since the reset, but b is open. */
static void check_no_time(struct call_paths *c)
{
	CHECK_EQ(process_of(c)->flags, CALL_RUNNING | CALL_RESET);
	CHECK_NS(process_of(c)->wall_ns, 0);
	CHECK_NS(process_of(c)->own_ns, 0);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->calls, 0);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->open, 1);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, 0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 0);
	CHECK(isnan(PATH(c, 0x1000, 0x2000)->min_ns));
	CHECK_NS(process_of(c)->threads.items[0].wall_ns, 0);
}

static void check_woken(struct call_paths *c)
{
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 3000);
	/* b's tenth call returned: the second half of its cost is subtracted */
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (200 - 5) / 2.0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->max_ns, 45.5);
	CHECK_EQ(PATH(c, 0x1000, 0x3000)->calls, 1);
	CHECK_EQ(process_of(c)->paths.count, 4);
	CHECK_NS(process_of(c)->threads.items[0].wall_residual_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].cpu_ns, 250);
	CHECK_NS(process_of(c)->threads.items[0].cpu_residual_ns, 0);
}

static void a_baseline_is_subtracted(void)
{
	struct abc x = abc_new();
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	uint64_t then = t->last + 24000; /* 12 us later, blocked in b all the time */
	struct calls_thread_state clocks = {4711, 5950, 0, false};
	struct calls_state state = {.running = true, .live = true, .threads = &clocks};
	struct call_paths *c;
	struct fx *base;

	fx_header(x.f)->state = ASSAY_CALLS_RUNNING;
	fx_header(x.f)->end_ticks = 0;
	t->current = x.b;
	fx_node_at(x.f, x.b)->min = 40;
	fx_node_at(x.f, x.b)->max = 60;
	base = baseline(x.f, then, clocks);
	fx_header(x.f)->epoch++;
	state.thread_count = 1;
	state.base = base->bytes;
	state.base_size = fx_header(base)->used_bytes;

	state.now = then;
	c = read_with(x.f, &state);
	check_no_time(c);
	call_paths_free(c);

	/* 3 us later, still blocked */
	state.now = then + 6000;
	c = read_with(x.f, &state);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->blocked_ns, 3000);
	CHECK_NS(process_of(c)->threads.items[0].wall_residual_ns, 0);
	CHECK_NS(process_of(c)->wall_ns, 3000);
	call_paths_free(c);

	/* woken after 15 us in total, returned from b, and entered c for the first time */
	fx_wait(x.f, x.thread, x.b, 30000, 0);
	t->last += 30000 + 500;
	t->sync = t->last;
	t->sync_cpu_ns = 5950 + 250;
	fx_node_at(x.f, x.b)->net += 200;
	t->current = fx_node(x.f, x.thread, x.a, 0x3000, 1, 300);
	fx_node_at(x.f, x.b)->min = 90; /* restarted: the thread follows the epoch */
	fx_node_at(x.f, x.b)->max = 91;
	t->epoch = 1;
	clocks.cpu_ns = 5950 + 250;
	state.now = t->last;
	c = read_with(x.f, &state);
	check_woken(c);
	call_paths_free(c);
	free(base);
	free(x.f);
}

/* Adds an item of durations to b. */
static struct assay_calls_times *times_item(struct abc *x, uint32_t first)
{
	struct assay_calls_chunk *c = fx_find(x->f, ASSAY_CHUNK_TIMES, x->thread);
	struct assay_calls_times *item = (struct assay_calls_times *)(c + 1) + c->used++;

	*item = (struct assay_calls_times){.node = x->b, .first = first};
	return item;
}

/* Two ticks are a nanosecond. Before the reset there were 100 calls of 1024 ticks, after it 100 of
 * 4096 ticks. */
static void durations_since_a_reset_are_counted(void)
{
	struct abc x = abc_new();
	struct assay_calls_times *sums = times_item(&x, ASSAY_TIMES_SUMS),
	                         *before = times_item(&x, 60), *after;
	struct calls_thread_state clocks = {4711, 5950, 0, false};
	struct calls_state state = {.running = true, .live = true, .threads = &clocks};
	const struct call_times *times;
	struct call_paths *c;
	struct fx *base;
	uint32_t path;

	CHECK_EQ(assay_times_bucket(1024), 64);
	CHECK_EQ(assay_times_bucket(4096), 80);
	before->counts[64 - 60] = 100;
	sums->counts[ASSAY_TIMES_TIMED] = sums->counts[ASSAY_TIMES_SQUARES] = 100;
	sums->counts[ASSAY_TIMES_MISSED] = 7;
	fx_header(x.f)->state = ASSAY_CALLS_RUNNING;
	fx_header(x.f)->end_ticks = 0;
	state.now = fx_record(x.f, x.thread)->last + 24000;
	c = read_with(x.f, &state);
	path = (uint32_t)(PATH(c, 0x1000, 0x2000) - process_of(c)->paths.items);
	times = call_path_times_of(process_of(c), path);
	CHECK(times && times->timed == 100 && times->missed == 7);
	call_paths_free(c);

	base = baseline(x.f, state.now, clocks);
	fx_header(x.f)->epoch++;
	state.base = base->bytes;
	state.base_size = fx_header(base)->used_bytes;
	state.thread_count = 1;
	after = times_item(&x, 78);
	after->counts[80 - 78] = 100;
	sums->counts[ASSAY_TIMES_TIMED] += 100;
	sums->counts[ASSAY_TIMES_SQUARES] += 100;
	fx_node_at(x.f, x.b)->calls += 100;
	c = read_with(x.f, &state);
	path = (uint32_t)(PATH(c, 0x1000, 0x2000) - process_of(c)->paths.items);
	times = call_path_times_of(process_of(c), path);
	CHECK(times && times->timed == 100 && times->missed == 0);
	CHECK_EQ(times ? times->buckets.count : 0, 1);
	CHECK(times && fabs(call_times_percentile(times, 0, 0.01) - 2048) < 300);
	call_paths_free(c);
	free(base);
	free(x.f);
}

/* An item of a node that does not exist, or with a bucket beyond the last, is damage. */
static void wrong_durations_are_damage(void)
{
	static const uint32_t firsts[] = {3, 492, UINT32_MAX - 1};

	for (size_t i = 0; i <= sizeof(firsts) / sizeof(*firsts); i++) {
		struct abc x = abc_new();
		bool node = i == sizeof(firsts) / sizeof(*firsts);
		struct assay_calls_times *item = times_item(&x, node ? 60 : firsts[i]);
		struct call_paths *c;

		if (node)
			item->node = x.thread;
		item->counts[0] = 5;
		c = read_with(x.f, NULL);
		CHECK_EQ(process_of(c)->flags & CALL_DAMAGED, CALL_DAMAGED);
		CHECK_EQ(process_of(c)->times.count, 0);
		call_paths_free(c);
		free(x.f);
	}
}

/* Killed without an event since the reset: all figures are zero, and none is negative. */
static void a_baseline_of_an_exited_process_is_empty(void)
{
	struct abc x = abc_new();
	struct calls_thread_state clocks = {4711, 5950, 0, false};
	struct calls_state state = {0};
	struct call_paths *c;
	struct fx *base;

	fx_header(x.f)->state = ASSAY_CALLS_RUNNING;
	fx_header(x.f)->end_ticks = 0;
	base = baseline(x.f, fx_record(x.f, x.thread)->last + 24000, clocks);
	state.base = base->bytes;
	state.base_size = fx_header(base)->used_bytes;
	c = read_with(x.f, &state);
	CHECK_EQ(process_of(c)->flags, CALL_END_UNKNOWN | CALL_NO_END | CALL_RESET);
	CHECK_EQ(process_of(c)->paths.count, 1); /* paths without calls and time are omitted */
	CHECK_NS(process_of(c)->paths.items[0].net_ns, 0);
	CHECK_NS(process_of(c)->paths.items[0].blocked_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].wall_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].cpu_ns, 0);
	CHECK_NS(process_of(c)->threads.items[0].wall_residual_ns, 0);
	call_paths_free(c);
	fx_header(base)->pid = 1;
	c = call_paths_new();
	CHECK_EQ(calls_file_read(c, x.f->bytes, FX_BYTES, "t", &state, NULL, NULL), -EINVAL);
	call_paths_free(c);
	free(base);
	free(x.f);
}

/* A flag with a counter is cleared if the counter has not changed since the reset. */
static void flags_of_before_the_reset_are_dropped(void)
{
	const uint32_t counted = ASSAY_CALLS_FULL | ASSAY_CALLS_DEEP | ASSAY_CALLS_LOST |
	                         ASSAY_CALLS_UNMATCHED | ASSAY_CALLS_RESYNCED | ASSAY_CALLS_STACKS;
	struct abc x = abc_new();
	struct assay_calls_header *h = fx_header(x.f);
	struct calls_thread_state clocks = {4711, 5950, 0, false};
	struct calls_state state = {.running = true, .live = true};
	struct call_paths *c;
	struct fx *base;

	h->state = ASSAY_CALLS_RUNNING;
	h->end_ticks = 0;
	h->flags = counted | ASSAY_CALLS_UNSWITCHED;
	h->other_calls = h->lost_events = h->unmatched_exits = h->resyncs = h->nested_stacks = 3;
	state.now = fx_record(x.f, x.thread)->last + 24000;
	base = baseline(x.f, state.now, clocks);
	h->epoch++;
	state.base = base->bytes;
	state.base_size = fx_header(base)->used_bytes;
	c = read_with(x.f, &state);
	CHECK_EQ(process_of(c)->flags, CALL_UNSWITCHED | CALL_RUNNING | CALL_RESET);
	call_paths_free(c);
	h->lost_events = 4;
	h->nested_stacks = 5;
	c = read_with(x.f, &state);
	CHECK_EQ(process_of(c)->flags,
	         CALL_LOST | CALL_STACKS | CALL_UNSWITCHED | CALL_RUNNING | CALL_RESET);
	CHECK_EQ(process_of(c)->lost_events, 1);
	call_paths_free(c);
	h->other_calls = 4;
	c = read_with(x.f, &state);
	CHECK(process_of(c)->flags & CALL_FULL);
	call_paths_free(c);
	free(base);
	free(x.f);
}

int main(void)
{
	RUN(the_time_since_the_last_event_is_reported);
	RUN(a_baseline_is_subtracted);
	RUN(durations_since_a_reset_are_counted);
	RUN(wrong_durations_are_damage);
	RUN(a_baseline_of_an_exited_process_is_empty);
	RUN(flags_of_before_the_reset_are_dropped);
	return check_end();
}
