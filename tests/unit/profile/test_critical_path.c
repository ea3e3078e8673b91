/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Critical paths that are followed backwards are compared with those that the simulated scheduler
 * follows forwards: a woken thread has the path of its waker.
 */
#include "check.h"
#include "scheduler_fixture.h"

/* Segments cover the range, and the sums are those of the segments. */
static void check_sums(const struct critical_path *c)
{
	uint64_t at_ns = c->from_ns, sums = 0, kinds[CRITICAL_UNKNOWN + 1] = {0};

	vec_each (s, &c->segments) {
		CHECK_EQ(s->start_ns, at_ns);
		CHECK(s->end_ns > s->start_ns);
		at_ns = s->end_ns;
		kinds[s->kind] += s->end_ns - s->start_ns;
	}
	CHECK_EQ(at_ns, c->to_ns);
	vec_each (sum, &c->sums) {
		sums += sum->ns;
		kinds[sum->kind] -= sum->ns;
	}
	CHECK_EQ(sums, c->to_ns - c->from_ns);
	for (size_t i = 0; i <= CRITICAL_UNKNOWN; i++)
		CHECK_EQ(kinds[i], 0);
}

static uint32_t id_of(const struct sim *s, uint32_t thread)
{
	return process_table_find_thread(s->profile->processes, sim_tid(thread), sim_tid(thread));
}

/* The nodes from the end to the begin are the segments; true if they are equal. */
static bool same_path(const struct sim *s, const struct critical_path *c, uint32_t node)
{
	size_t i = c->segments.count;

	for (; node && i; node = s->nodes.items[node - 1].before) {
		const struct sim_node *n = &s->nodes.items[node - 1];
		const struct critical_segment *have = &c->segments.items[--i];

		if (have->start_ns != n->start_ns || have->end_ns != n->end_ns ||
		    sim_thread_of(s, have->thread) != n->thread || have->kind != n->kind) {
			printf("# want thread %u kind %u %llu to %llu, have thread %u kind %u %llu "
			       "to %llu\n",
			       n->thread, n->kind, (unsigned long long)n->start_ns,
			       (unsigned long long)n->end_ns, sim_thread_of(s, have->thread),
			       have->kind, (unsigned long long)have->start_ns,
			       (unsigned long long)have->end_ns);
			return false;
		}
	}
	return !node && !i;
}

static bool own_softirq(void *ctx, uint32_t waker_path)
{
	(*(unsigned *)ctx)++;
	return false;
}

static unsigned check_paths(struct sim *s)
{
	unsigned compared = 0, asked = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		struct sim_thread *t = &s->threads[i];
		struct critical_path c;
		struct critical_request request = {
		        .thread = id_of(s, i), .is_own_softirq = own_softirq, .ctx = &asked};

		/* A runnable thread at the end has a waker that did not end its wait. */
		if (request.thread == ID_NONE || t->state == SIM_READY || t->since_start)
			continue;
		if (t->state != SIM_DEAD)
			sim_extend(s, i,
			           t->state == SIM_RUNNING ? CRITICAL_ON_CPU : CRITICAL_BLOCKED);
		critical_path_find(&c, s->profile, &request);
		check_sums(&c);
		CHECK(same_path(s, &c, t->node));
		CHECK_EQ(c.beyond, 0);
		compared++;
		critical_path_done(&c);
	}
	CHECK(asked > 0);
	return compared;
}

static void simulate(unsigned what, uint64_t seed)
{
	struct profile_builder_options options = {.waits = true};
	unsigned compared;
	struct sim s;

	sim_begin(&s, what, seed, &options);
	sim_start(&s, 8);
	for (int i = 0; i < 3000; i++)
		sim_step(&s);
	sim_end(&s);
	compared = check_paths(&s);
	CHECK(compared > 5);
	sim_done(&s);
}

static void paths_follow_the_wakers(void)
{
	for (uint64_t seed = 1; seed < 20; seed++)
		simulate(SIM_RECORDS | SIM_SAMPLES, seed);
}

static void paths_follow_the_wakers_without_records(void)
{
	for (uint64_t seed = 20; seed < 30; seed++)
		simulate(SIM_SAMPLES, seed);
}

/* A part of the range is the part of the path, cut at the edge. */
static void a_range_cuts_the_path(void)
{
	struct profile_builder_options options = {.waits = true};
	struct critical_path whole, part;
	struct critical_request request = {0};
	struct sim s;

	sim_begin(&s, SIM_RECORDS | SIM_SAMPLES, 5, &options);
	sim_start(&s, 8);
	for (int i = 0; i < 2000; i++)
		sim_step(&s);
	sim_end(&s);
	request.thread =
	        s.profile->waits.sums.items[s.profile->waits.waits.items[0].sum].key.thread;
	critical_path_find(&whole, s.profile, &request);
	request.from_ns = (whole.from_ns + whole.to_ns) / 2;
	critical_path_find(&part, s.profile, &request);
	check_sums(&part);
	CHECK_EQ(part.to_ns, whole.to_ns);
	for (size_t i = 1; i < part.segments.count; i++) {
		const struct critical_segment *have = &part.segments.items[part.segments.count - i];
		const struct critical_segment *want =
		        &whole.segments.items[whole.segments.count - i];

		CHECK(have->start_ns == want->start_ns && have->thread == want->thread &&
		      have->kind == want->kind && have->wait == want->wait);
	}
	critical_path_done(&whole);
	critical_path_done(&part);
	sim_done(&s);
}

#define MS 1000000ull

/* Sends one event of a small schedule at that ms. */
static void at(struct sim *s, uint64_t ms)
{
	s->time_ns = SIM_START + ms * MS;
}

static void tick(struct sim *s, uint32_t thread, uint64_t ms, uint64_t path)
{
	struct event e = {.kind = EVENT_SAMPLE, .mode = CPU_MODE_USER, .attr = SIM_CLOCK};

	at(s, ms);
	e.sample.ip = path;
	e.sample.period = MS;
	sim_put(s, e, thread, thread);
}

static const struct critical_sum *sum_of(const struct sim *s, const struct critical_path *c,
                                         uint32_t thread, enum critical_kind kind, uint64_t path)
{
	vec_each (sum, &c->sums)
		if (sim_thread_of(s, sum->thread) == thread && sum->kind == kind &&
		    sim_address(s, sum->path) == path)
			return sum;
	return NULL;
}

/*
 * Thread 0 creates thread 1 at 10 ms and waits for it; thread 1 computes for 60 ms in two
 * functions, sleeps 20 ms, and wakes thread 0 at 100 ms, which runs until 130 ms.
 */
static void functions_share_the_time_of_their_thread(void)
{
	struct profile_builder_options options = {.waits = true, .time_axis = true};
	struct event fork = {.kind = EVENT_FORK,
	                     .fork = {.parent_pid = SIM_FIRST, .parent_tid = SIM_FIRST}};
	struct event exec = {.kind = EVENT_COMM, .comm = {.name = "new", .exec = true}};
	const struct critical_sum *sum;
	struct critical_request request = {0};
	struct critical_path c;
	struct sim s;

	sim_begin(&s, SIM_RECORDS | SIM_SAMPLES, 1, &options);
	s.profile->axis.shift = 0;
	sim_start(&s, 1);
	at(&s, 5);
	sim_switch(&s, 0, 0, false);
	sim_put(&s, exec, 0, 0);
	at(&s, 10);
	s.count = 2;
	s.threads[1] = (struct sim_thread){.is_new = true, .waker = ID_NONE};
	sim_put(&s, fork, 0, 1);
	s.time_ns++;
	sim_wake(&s, 0, 1, WAIT_BY_THREAD, true);
	at(&s, 11);
	sim_switch(&s, 1, 1, false);
	at(&s, 20);
	s.threads[0].path = 50;
	sim_switch(&s, 0, ID_NONE, false);
	for (uint64_t ms = 15; ms < 70; ms += 10)
		tick(&s, 1, ms, ms < 40 ? 60 : 61);
	at(&s, 71);
	s.threads[1].path = 51;
	sim_switch(&s, 1, ID_NONE, false);
	at(&s, 91);
	sim_wake(&s, 1, 1, WAIT_BY_INTERRUPT, false);
	at(&s, 93);
	sim_switch(&s, 1, 1, false);
	tick(&s, 1, 95, 61);
	at(&s, 100);
	sim_wake(&s, 1, 0, WAIT_BY_THREAD, false);
	at(&s, 101);
	sim_switch(&s, 0, 0, false);
	at(&s, 130);
	s.recording->account.end_ns = s.time_ns;
	s.sink.end(s.sink.ctx, s.recording, NULL);
	profile_builder_free(s.builder);
	request.thread = id_of(&s, 0);
	critical_path_find(&c, s.profile, &request);
	check_sums(&c);
	CHECK_EQ(c.ns[CRITICAL_BLOCKED], (5 + 20) * MS); /* before the first record, and asleep */
	CHECK_EQ(c.ns[CRITICAL_RUNNABLE], 1 * MS - 1 + 2 * MS + 1 * MS);
	CHECK_EQ(c.ns[CRITICAL_ON_CPU], 5 * MS + 1 + 60 * MS + 7 * MS + 29 * MS);
	CHECK_EQ(c.edges.count, 3); /* thread 0, thread 1, and thread 0 before its exec */
	CHECK_EQ(sim_thread_of(&s, c.edges.items[2].thread), 0);
	CHECK_EQ(sim_thread_of(&s, c.edges.items[2].waker), 1);
	sum = sum_of(&s, &c, 1, CRITICAL_BLOCKED, 51);
	CHECK(sum && sum->ns == 20 * MS && sum->woken == WAIT_BY_INTERRUPT);
	/* 67 ms on a CPU; 3 samples of one function and 4 of the other */
	sum = sum_of(&s, &c, 1, CRITICAL_ON_CPU, 60);
	CHECK(sum && sum->count == 3 && sum->ns / MS == 28);
	sum = sum_of(&s, &c, 1, CRITICAL_ON_CPU, 61);
	CHECK(sum && sum->count == 4 && sum->ns / MS == 38);
	sum = sum_of(&s, &c, 0, CRITICAL_ON_CPU, SIM_NO_PATH);
	CHECK(sum && sum->ns == 34 * MS + 1);
	CHECK_EQ(critical_path_last_thread(
	                 s.profile,
	                 process_table_thread_at(s.profile->processes, request.thread)->process, 0),
	         request.thread);
	critical_path_done(&c);
	sim_done(&s);
}

/* Makes the thread one of the kernel: a child of kthreadd. */
static void kernel_thread(struct sim *s, uint32_t thread)
{
	struct event comm = {.kind = EVENT_COMM, .pid = 2, .tid = 2, .comm = {.name = "kthreadd"}};
	struct event fork = {.kind = EVENT_FORK,
	                     .pid = sim_tid(thread),
	                     .tid = sim_tid(thread),
	                     .fork = {.parent_pid = 2, .parent_tid = 2}};

	s->sink.event(s->sink.ctx, &comm, NULL);
	s->sink.event(s->sink.ctx, &fork, NULL);
}

/*
 * Thread 0 waits from 10 to 60 ms. Thread 2, of another process, wakes thread 1 at 50 ms, which
 * wakes thread 0.
 */
static void pass_on(struct sim *s, bool is_kernel)
{
	struct profile_builder_options options = {.waits = true};

	sim_begin(s, SIM_RECORDS | SIM_SAMPLES, 1, &options);
	sim_start(s, 3);
	if (is_kernel)
		kernel_thread(s, 1);
	for (uint32_t i = 0; i < 3; i++) {
		at(s, 1 + i);
		sim_switch(s, i, i, false);
		s->threads[i].path = 50 + i;
	}
	at(s, 5);
	sim_switch(s, 1, ID_NONE, false);
	at(s, 10);
	sim_switch(s, 0, ID_NONE, false);
	at(s, 50);
	sim_wake(s, 2, 1, WAIT_BY_THREAD, false);
	at(s, 51);
	sim_switch(s, 1, 1, false);
	at(s, 60);
	sim_wake(s, 1, 0, WAIT_BY_THREAD, false);
	at(s, 61);
	sim_switch(s, 0, 0, false);
	at(s, 70);
	s->recording->account.end_ns = s->time_ns;
	s->sink.end(s->sink.ctx, s->recording, NULL);
	profile_builder_free(s->builder);
}

/* What a kernel thread did before it passed on the end of an I/O request did not decide. */
static void the_path_ends_at_kernel_threads(void)
{
	struct critical_request request = {0};
	const struct critical_sum *sum;
	struct critical_path c;
	struct sim s;

	pass_on(&s, false);
	request.thread = id_of(&s, 0);
	critical_path_find(&c, s.profile, &request);
	check_sums(&c);
	CHECK_EQ(c.edges.count, 2);
	CHECK_EQ(sim_thread_of(&s, c.segments.items[0].thread), 2);
	critical_path_done(&c);
	sim_done(&s);
	pass_on(&s, true);
	request.thread = id_of(&s, 0);
	critical_path_find(&c, s.profile, &request);
	check_sums(&c);
	CHECK_EQ(c.edges.count, 0);
	sum = sum_of(&s, &c, 0, CRITICAL_BLOCKED, 50);
	CHECK(sum && sum->ns == 50 * MS && sum->woken == WAIT_BY_THREAD);
	vec_each (segment, &c.segments)
		CHECK_EQ(sim_thread_of(&s, segment->thread), 0);
	critical_path_done(&c);
	sim_done(&s);
}

int main(void)
{
	RUN(paths_follow_the_wakers);
	RUN(paths_follow_the_wakers_without_records);
	RUN(a_range_cuts_the_path);
	RUN(functions_share_the_time_of_their_thread);
	RUN(the_path_ends_at_kernel_threads);
	return check_end();
}
