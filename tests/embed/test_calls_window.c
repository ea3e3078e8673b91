/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads whose CPU time is sampled: when the clock is read, and which node a sample is for. */
#include "core_fixture.h"

static uintptr_t stack = STACK_HIGH - 16;

static void call(uint64_t function, uint64_t ticks)
{
	stack -= 64;
	calls_enter_at(function, 0x9000 + function, stack, function + 8);
	embedded_now += ticks;
}

static void back(uint64_t function, uint64_t ticks)
{
	calls_exit_at(function, 0x9000 + function, stack, function + 40);
	stack += 64;
	embedded_now += ticks;
}

static void sample(uint64_t program, uint64_t hooks)
{
	new_samples = (struct port_samples){program, hooks};
	sample_head++;
}

static uint64_t samples_of(const struct assay_calls_node *n)
{
	return n->wait ? ((struct assay_calls_wait *)calls_node(n->wait))->samples : 0;
}

static void begin(void)
{
	fresh(1000, TABLE_BYTES);
	stack = STACK_HIGH - 16;
	can_sample = true;
}

/* Calls until the thread counts without the clock: events in quick succession use up the credit. */
static void hurry(void)
{
	for (int i = 0; i < 10000 && embedded_self->rest != CALLS_READY; i++) {
		call(B, 1);
		back(B, 1);
	}
	CHECK_EQ(embedded_self->rest, CALLS_READY);
}

static void few_events_are_timed_by_the_clock(void)
{
	begin();
	for (int i = 0; i < 1000; i++) {
		call(A, 100000);
		back(A, 50000);
	}
	CHECK_EQ(embedded_self->rest, CALLS_TIMED);
	CHECK_EQ(AT(A)->calls, 1000);
	CHECK_EQ(AT(A)->net, 1000 * 100000);
	CHECK_EQ(AT(A)->min, 100000);
	CHECK_EQ(AT(A)->max, 100000);
	CHECK_EQ(embedded_self->record->samples, 0);
}

static void many_events_are_counted_and_sampled(void)
{
	uint64_t net, calls;

	begin();
	call(A, 1);
	hurry();
	net = AT(A, B)->net;
	calls = AT(A, B)->calls;
	for (int i = 0; i < 100; i++) {
		call(B, 1);
		if (i % 10 == 3)
			sample(1, 0);
		back(B, 1);
	}
	CHECK_EQ(AT(A, B)->calls, calls + 100);
	CHECK_EQ(AT(A, B)->net, net);
	CHECK_EQ(samples_of(AT(A, B)), 10);
	sample(2, 3);
	call(C, 1);
	back(C, 1);
	CHECK_EQ(samples_of(AT(A)), 2);
	CHECK_EQ(samples_of(AT(A, C)), 0);
	CHECK_EQ(embedded_self->record->samples, 12);
	CHECK_EQ(embedded_self->record->own_samples, 3);
	CHECK(embedded_self->record->own >= 3 * PERIOD + 15 * PERIOD_COST);
	back(A, 0);
}

/* While a thread counts, a switch changes both words. */
static void switched(uint64_t blocked)
{
	waits = (struct port_waits){.blocked = blocked, .blocked_count = 1};
	switches++;
	sample(0, 0);
}

static uint64_t blocked_of(const struct assay_calls_node *n)
{
	return n->wait ? ((struct assay_calls_wait *)calls_node(n->wait))->blocked : 0;
}

static void waits_belong_to_the_function_in_which_a_counting_thread_waits(void)
{
	begin();
	call(A, 1);
	hurry();
	call(B, 1);
	switched(500);
	back(B, 1);
	call(B, 1);
	back(B, 1);
	switched(70);
	call(B, 1);
	back(B, 1);
	CHECK_EQ(embedded_self->rest, CALLS_READY);
	CHECK_EQ(blocked_of(AT(A, B)), 500);
	CHECK_EQ(blocked_of(AT(A)), 70);
	CHECK_EQ(embedded_self->record->samples, 0);
	back(A, 0);
}

static void switch_after_the_event(void)
{
	switched(500);
}

/* The thread is switched after the hook of a new path has looked: the next event charges the wait.
 */
static void a_wait_at_the_end_of_a_slow_event_is_not_forgotten(void)
{
	begin();
	call(A, 1);
	hurry();
	pending = switch_after_the_event;
	call(C, 1);
	CHECK_EQ(embedded_self->rest, CALLS_READY);
	CHECK_EQ(blocked_of(AT(A, C)), 0);
	call(B, 1);
	CHECK_EQ(blocked_of(AT(A, C)), 500);
	back(B, 1);
	back(C, 1);
	back(A, 0);
}

/* A reset clears min and max. Calls that are open then have no duration. */
static void a_reset_reaches_a_thread_that_counts(void)
{
	struct assay_calls_thread *r;

	begin();
	call(A, 1);
	hurry();
	r = embedded_self->record;
	AT(A, B)->max = 1000000;
	r->epoch = ASSAY_CALLS_RESTART;
	for (unsigned i = 0; i < 20000; i++) {
		call(B, 1);
		back(B, 1);
	}
	CHECK_EQ(r->epoch, calls_table.header->epoch);
	CHECK(AT(A, B)->max >= 1 && AT(A, B)->max < 1000000);
	back(A, 0);
	CHECK_EQ(AT(A)->max, INT64_MIN);
}

/* The clock's time and the samples are never both charged for the same interval. */
static void samples_are_discarded_while_the_clock_is_charged(void)
{
	uint64_t net, own;

	begin();
	hurry();
	for (int i = 0; i < 100000 && embedded_self->rest != CALLS_TIMED; i++) {
		call(B, 100000);
		back(B, 100000);
	}
	for (int i = 0; i < 200; i++) {
		call(B, 100000);
		back(B, 100000);
	}
	CHECK(embedded_self->charge != 0);
	net = AT(B)->net;
	own = embedded_self->record->own;
	call(B, 100000);
	sample(1, 0);
	back(B, 1);
	CHECK_EQ(samples_of(AT(B)), 0);
	CHECK_EQ(AT(B)->net, net + 100000 - PERIOD_COST);
	CHECK_EQ(embedded_self->record->own, own + PERIOD_COST);
}

/* After some time without use, samples are no longer taken. */
static void samples_end_when_they_are_not_needed(void)
{
	begin();
	hurry();
	for (int i = 0; i < 20000; i++) {
		call(B, 100000);
		back(B, 100000);
	}
	CHECK(embedded_self->charge != 0);
	CHECK(embedded_self->sampled == &sample_head);
	for (int i = 0; i < 200; i++) {
		sample(1, 0);
		call(B, 100000);
		back(B, 100000);
	}
	CHECK(embedded_self->sampled != &sample_head);
	hurry();
	CHECK(embedded_self->sampled == &sample_head);
}

/* In a window only calls that begin and end in it have a duration. */
static void windows_time_whole_calls(void)
{
	int64_t min = INT64_MAX, max = INT64_MIN;

	begin();
	call(A, 1);
	hurry();
	for (uint64_t i = 0; i < 40000; i++) {
		call(C, 2 + i % 3);
		back(C, 1);
	}
	min = AT(A, C)->min;
	max = AT(A, C)->max;
	CHECK(min >= 2 && max <= 4 && min <= max);
	back(A, 0);
	CHECK_EQ(AT(A)->calls, 1);
	CHECK_EQ(AT(A)->min, INT64_MAX);
}

/* Sum number `sum` of a node's durations. */
static uint64_t times_sum(const struct assay_calls_node *n, unsigned sum)
{
	const struct assay_calls_wait *wait = (const struct assay_calls_wait *)calls_node(n->wait);

	if (!n->wait || !wait->times)
		return 0;
	return ((const struct assay_calls_times *)calls_node(wait->times))->counts[sum];
}

/* The calls that the bucket of a duration stands for. */
static uint64_t times_of(const struct assay_calls_node *n, int64_t net)
{
	const struct assay_calls_wait *wait = (const struct assay_calls_wait *)calls_node(n->wait);
	uint32_t bucket = assay_times_bucket(net), unit = n->wait ? wait->times : 0;
	const struct assay_calls_times *item;

	for (; unit; unit = item->next) {
		item = (const struct assay_calls_times *)calls_node(unit);
		if (item->first == bucket / ASSAY_TIMES_BUCKETS * ASSAY_TIMES_BUCKETS)
			return item->counts[bucket % ASSAY_TIMES_BUCKETS];
	}
	return 0;
}

static void buckets_are_an_eighth_of_a_power_of_two(void)
{
	CHECK_EQ(assay_times_bucket(INT64_MIN), 0);
	CHECK_EQ(assay_times_bucket(-1), 0);
	CHECK_EQ(assay_times_bucket(7), 7);
	CHECK_EQ(assay_times_bucket(8), 8);
	CHECK_EQ(assay_times_bucket(15), 15);
	CHECK_EQ(assay_times_bucket(16), 16);
	CHECK_EQ(assay_times_bucket(17), 16);
	CHECK_EQ(assay_times_bucket(18), 17);
	CHECK_EQ(assay_times_bucket(1024), 64);
	CHECK_EQ(assay_times_bucket(INT64_MAX), 61 * 8 - 1);
}

/* 90 % take 10000 ticks, 9 % 1000000, 1 % 100000000. */
static uint64_t duration(unsigned i)
{
	return i % 100 == 99 ? 100000000 : i % 100 >= 90 ? 1000000 : 10000;
}

static void each_call_that_the_clock_times_has_a_duration(void)
{
	begin();
	can_sample = false;
	for (unsigned i = 0; i < 1000 + ASSAY_TIMES_FIRST - 1; i++) {
		call(A, i < ASSAY_TIMES_FIRST - 1 ? 5 : duration(i - (ASSAY_TIMES_FIRST - 1)));
		back(A, 7);
	}
	CHECK_EQ(times_sum(AT(A), ASSAY_TIMES_TIMED), 1000);
	CHECK_EQ(times_sum(AT(A), ASSAY_TIMES_SQUARES), 1000);
	CHECK_EQ(times_sum(AT(A), ASSAY_TIMES_MISSED), 0);
	CHECK_EQ(times_of(AT(A), 10000), 900);
	CHECK_EQ(times_of(AT(A), 1000000), 90);
	CHECK_EQ(times_of(AT(A), 100000000), 10);
	CHECK_EQ(times_of(AT(A), 5), 0);
}

/*
 * Long calls in a thread that counts end the window, and the clock is charged for some time. The
 * long calls are not too many among the durations.
 */
static void chosen_calls_stand_for_all_calls(void)
{
	const unsigned count = 8000000;
	uint64_t small, large;

	begin();
	call(A, 1);
	hurry();
	for (unsigned i = 0; i < count; i++) {
		call(C, i % 100 == 99 ? 2000 : 2);
		back(C, 1);
	}
	small = times_of(AT(A, C), 2);
	large = times_of(AT(A, C), 2000);
	CHECK(times_sum(AT(A, C), ASSAY_TIMES_TIMED) > 500);
	CHECK_EQ(times_sum(AT(A, C), ASSAY_TIMES_MISSED), 0);
	CHECK(small + large > count / 2 && small + large < count * 2);
	CHECK(large > count / 400 && large < count / 25);
	back(A, 0);
}

/* A call with more callees than a window has events is chosen and missed. */
static void calls_that_outlast_their_window_are_missed(void)
{
	begin();
	call(A, 1);
	hurry();
	for (unsigned i = 0; i < 100000; i++) {
		call(C, 1);
		for (unsigned k = 0; k < 40; k++) {
			call(B, 1);
			back(B, 1);
		}
		back(C, 1);
	}
	CHECK_EQ(times_sum(AT(A, C), ASSAY_TIMES_TIMED), 0);
	CHECK(times_sum(AT(A, C), ASSAY_TIMES_MISSED) >= 10 * ASSAY_TIMES_WEIGHT);
	CHECK_EQ(times_sum(AT(A, C, B), ASSAY_TIMES_MISSED), 0);
	CHECK(times_of(AT(A, C, B), 1) >= 100 * ASSAY_TIMES_WEIGHT);
	back(A, 0);
}

int main(void)
{
	RUN(few_events_are_timed_by_the_clock);
	RUN(many_events_are_counted_and_sampled);
	RUN(waits_belong_to_the_function_in_which_a_counting_thread_waits);
	RUN(a_wait_at_the_end_of_a_slow_event_is_not_forgotten);
	RUN(a_reset_reaches_a_thread_that_counts);
	RUN(samples_are_discarded_while_the_clock_is_charged);
	RUN(samples_end_when_they_are_not_needed);
	RUN(windows_time_whole_calls);
	RUN(buckets_are_an_eighth_of_a_power_of_two);
	RUN(each_call_that_the_clock_times_has_a_duration);
	RUN(chosen_calls_stand_for_all_calls);
	RUN(calls_that_outlast_their_window_are_missed);
	return check_end();
}
