/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core of call paths, compiled freestanding: stacks of coroutines inside the frame of an open
 * call, reported by calls_stack_made(). The addresses are those of a simulated program.
 */
#include "core_fixture.h"

/* Each call has its own call instruction. */
static void call(uint64_t function, uintptr_t sp)
{
	calls_enter_at(function, sp ^ 0x55000000, sp, function + 16);
	embedded_now++;
}

static void call_slowly(uint64_t function, uintptr_t sp)
{
	switches++;
	call(function, sp);
}

static void back(uint64_t function, uintptr_t sp)
{
	calls_exit_at(function, sp ^ 0x55000000, sp, function + 32);
	embedded_now++;
}

static void nothing_is_wrong(void)
{
	CHECK_EQ(calls_table.header->resyncs, 0);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
	CHECK_EQ(embedded_self->record->current, embedded_self->record->root);
}

static uint32_t stacks(void)
{
	return calls_home(embedded_self)->stack_count;
}

/* A calls B, through C if it is given; the frame of B contains the stack of a coroutine. */
static void begin(bool between)
{
	fresh(100, TABLE_BYTES);
	call(A, 0xf0000);
	if (between)
		call(C, 0xe0000);
	call(B, 0x80000);
	calls_stack_made(0x80000, 0xa0000, 0x7fff0);
}

/* As soon as B has returned, the memory belongs to the ordinary stack again. */
static void the_call_returns(bool between)
{
	begin(between);
	call(C, 0x9ff00);
	call(D, 0x7f000);
	back(D, 0x7f000);
	back(B, 0x80000);
	if (between)
		back(C, 0xe0000);
	call_slowly(D, 0x98000);
	call_slowly(C, 0x70000);
	back(C, 0x70000);
	back(D, 0x98000);
	back(A, 0xf0000);
	CHECK_EQ(AT(A, D, C)->calls, 1);
	nothing_is_wrong();
}

static void a_call_returns_that_has_a_stack(void)
{
	the_call_returns(false);
	CHECK_EQ(AT(A, B, C)->calls, 1);
	CHECK_EQ(AT(A, B, D)->calls, 1);
	the_call_returns(true);
	CHECK_EQ(AT(A, C, B, C)->calls, 1);
	CHECK_EQ(AT(A, C, B, D)->calls, 1);
}

static void another_call_comes_before_a_slow_event(void)
{
	begin(false);
	back(B, 0x80000);
	call(D, 0x98000);
	call_slowly(C, 0x90000);
	CHECK_EQ(calls_home(embedded_self)->held, 0);
	call_slowly(B, 0x70000);
	back(B, 0x70000);
	back(C, 0x90000);
	back(D, 0x98000);
	back(A, 0xf0000);
	CHECK_EQ(AT(A, D, C, B)->calls, 1);
	nothing_is_wrong();
}

/* The same memory twice, and memory that overlaps it: only one stack remains. */
static void made_again(uintptr_t low, uintptr_t high)
{
	begin(false);
	call(C, 0x9ff00);
	for (int i = 0; i < 3; i++)
		calls_stack_made(low, high, 0x7fff0);
	call(D, high - 0x100);
	CHECK_EQ(stacks(), 2);
	back(D, high - 0x100);
	back(B, 0x80000);
	back(A, 0xf0000);
	CHECK_EQ(AT(A, B, D)->calls, 1);
	nothing_is_wrong();
}

static void stacks_made_again(void)
{
	made_again(0x80000, 0xa0000);
	made_again(0x81000, 0xa1000);
	made_again(0x90000, 0xa2000);
	made_again(0x80000, 0x90000);
}

/* Memory below all open calls is in no known frame. */
static void memory_below_the_top(void)
{
	begin(false);
	calls_stack_made(0x60000, 0x70000, 0x7fff0);
	call_slowly(C, 0x68000);
	call_slowly(D, 0x50000);
	back(D, 0x50000);
	back(C, 0x68000);
	back(B, 0x80000);
	back(A, 0xf0000);
	CHECK_EQ(AT(A, B, C, D)->calls, 1);
	nothing_is_wrong();
}

/* The stack is in the frame of a suspended coroutine, in its outermost call. */
static void in_the_frame_of_another_coroutine(void)
{
	fresh(100, TABLE_BYTES);
	call(A, 0xf0000);
	call(B, 0x180000);
	call(C, 0xe0000);
	calls_stack_made(0x190000, 0x1a0000, 0xdff00);
	call(D, 0x19ff00);
	back(D, 0x19ff00);
	back(C, 0xe0000);
	back(B, 0x180000);
	call_slowly(C, 0x1f0000);
	call_slowly(D, 0x198000);
	call_slowly(B, 0x188000);
	call_slowly(A, 0x170000);
	back(A, 0x170000);
	back(B, 0x188000);
	back(D, 0x198000);
	back(C, 0x1f0000);
	back(A, 0xf0000);
	CHECK_EQ(AT(A, C, D)->calls, 2);
	CHECK_EQ(AT(A, C, D, B, A)->calls, 1);
	nothing_is_wrong();
}

/*
 * The frame of each coroutine contains the stack of the next one. The runtime checks the second
 * stack before the first, which surrounds it, because the second one reused a free entry.
 */
static void three_within_each_other(void)
{
	fresh(100, TABLE_BYTES);
	call(A, 0xf0000);
	call(B, 0x20000);
	call(C, 0x10000);
	calls_stack_made(0x12000, 0x14000, 0xff00);
	calls_stack_made(0x30000, 0xc0000, 0xff00);
	back(C, 0x10000);
	call(C, 0x40000);
	calls_stack_made(0x50000, 0xb0000, 0x3ff00);
	call(D, 0x60000);
	calls_stack_made(0x70000, 0xa0000, 0x5ff00);
	call(A, 0x9ff00);
	back(A, 0x9ff00);
	/* D returns: its memory belongs to the surrounding stack again. */
	back(D, 0x60000);
	call(D, 0xafff0);
	call_slowly(B, 0x98000);
	call_slowly(A, 0x52000);
	back(A, 0x52000);
	back(B, 0x98000);
	back(D, 0xafff0);
	/* C stays open on the outer stack. */
	back(B, 0x20000);
	call_slowly(D, 0x98000);
	call_slowly(C, 0x10000);
	back(C, 0x10000);
	back(D, 0x98000);
	back(A, 0xf0000);
	CHECK_EQ(AT(A, B, C, D, A)->calls, 1);
	CHECK_EQ(AT(A, B, C, D, B, A)->calls, 1);
	CHECK_EQ(AT(A, D, C)->calls, 1);
	nothing_is_wrong();
}

/* The time before the switch to the new stack belongs to the last call on the old stack. */
static void time_before_a_stack_is_made_again(void)
{
	begin(false);
	call(C, 0x9ff00);
	embedded_now += 5000;
	calls_stack_made(0x80000, 0xa0000, 0x7fff0);
	embedded_now += 70000;
	back(B, 0x80000);
	back(A, 0xf0000);
	CHECK(AT(A, B, C)->net >= 5000 && AT(A, B, C)->net < 6000);
	CHECK(AT(A, B)->net >= 70000 && AT(A, B)->net < 71000);
	nothing_is_wrong();
}

/* The runtime must still process a jump. In a hook, and for other memory, it does nothing. */
static void states_of_the_thread(void)
{
	uint64_t slow;

	calls_stack_made(0x80000, 0xa0000, 0x7fff0);
	begin(false);
	calls_jumped();
	calls_stack_made(0xb0000, 0xc0000, 0x7fff0);
	CHECK_EQ(stacks(), 3);
	CHECK_EQ(embedded_self->state, CALLS_JUMPED);
	embedded_self->state = CALLS_BUSY;
	calls_stack_made(0xc0000, 0xd0000, 0x7fff0);
	CHECK_EQ(stacks(), 3);
	embedded_self->state = CALLS_READY;
	/* The memory of an ordinary coroutine is used again. */
	call(C, 0x1f0000);
	call_slowly(D, 0x7f000);
	slow = embedded_self->record->slow;
	calls_stack_made(0x100000, 0x200000, 0x7eff0);
	calls_stack_made(0x280000, 0x290000, 0x7eff0);
	CHECK_EQ(embedded_self->record->slow, slow);
	CHECK_EQ(stacks(), 4);
}

/* In a forked child the coroutine that forked continues; the surrounding stack does not. */
static void only_the_coroutine_continues(void)
{
	begin(false);
	call(C, 0x9ff00);
	calls_stack_alone(embedded_self);
	CHECK_EQ(calls_home(embedded_self)->held, 0);
	call(D, 0x9f000);
	calls_enter_at(B, 0x900, 0x170000, B + 16);
	calls_exit_at(B, 0x900, 0x170000, B + 32);
	back(D, 0x9f000);
	back(C, 0x9ff00);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
}

/* Another stack gets its entry. */
static void it_was_left_longest_ago(void)
{
	uintptr_t last = (CALLS_STACKS + 20) * (uintptr_t)STACK_HIGH - 0x400;

	begin(false);
	call(C, 0x9ff00);
	for (uintptr_t i = 10; i < CALLS_STACKS + 8; i++)
		call(D, i * STACK_HIGH - 0x400);
	CHECK_EQ(calls_table.header->nested_stacks, 0);
	call(D, last);
	CHECK_EQ(calls_table.header->nested_stacks, 1);
	back(B, 0x80000);
	back(D, last);
	back(A, 0xf0000);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
}

int main(void)
{
	RUN(a_call_returns_that_has_a_stack);
	RUN(another_call_comes_before_a_slow_event);
	RUN(stacks_made_again);
	RUN(memory_below_the_top);
	RUN(in_the_frame_of_another_coroutine);
	RUN(three_within_each_other);
	RUN(time_before_a_stack_is_made_again);
	RUN(states_of_the_thread);
	RUN(only_the_coroutine_continues);
	RUN(it_was_left_longest_ago);
	return check_end();
}
