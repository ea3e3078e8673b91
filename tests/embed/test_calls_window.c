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

int main(void)
{
	RUN(few_events_are_timed_by_the_clock);
	RUN(many_events_are_counted_and_sampled);
	RUN(samples_are_discarded_while_the_clock_is_charged);
	RUN(samples_end_when_they_are_not_needed);
	RUN(windows_time_whole_calls);
	return check_end();
}
