/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core of call paths, compiled freestanding: the frame to which an event belongs. The events
 * are those of inlined code, of jumps over frames, and of code on other stacks. The simulated
 * program has a stack in real memory that contains the return addresses.
 */
#include "core_fixture.h"

#include <setjmp.h>

static _Alignas(8) char program[2 * STACK_HIGH]; /* has one aligned stack in it */
static uintptr_t sp;

static void program_begin(uint32_t depth)
{
	fresh(depth, TABLE_BYTES);
	memset(program, 0, sizeof(program));
	sp = ((uintptr_t)program / STACK_HIGH + 2) * STACK_HIGH - 0x400;
}

/* A call instruction whose return address is `site`, and a prologue of `bytes`. */
static void into(uintptr_t site, size_t bytes)
{
	sp -= sizeof(site);
	memcpy((void *)sp, &site, sizeof(site));
	sp -= bytes;
}

static void out_of(size_t bytes)
{
	sp += bytes + sizeof(sp);
}

/* Calls a hook from the code address `ra`, `low` bytes below sp. */
static void enter(uint64_t function, uintptr_t ra, uintptr_t site, size_t low)
{
	calls_enter_at(function, site, sp - low, ra);
	embedded_now++;
}

static void leave(uint64_t function, uintptr_t ra, uintptr_t site, size_t low)
{
	calls_exit_at(function, site, sp - low, ra);
	embedded_now++;
}

static void nothing_is_wrong(uint64_t dropped)
{
	CHECK_EQ(calls_table.header->resyncs, dropped);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
	CHECK_EQ(embedded_self->record->current, embedded_self->record->root);
}

/* The first 128 bytes of A contain two inlined copies of A; the innermost copy calls A. */
static void recursion_inlined_into_itself(void)
{
	program_begin(1000);
	into(0x900, 24);
	enter(A, A + 16, 0x900, 0);
	enter(A, A + 32, 0x900, 0);
	enter(A, A + 48, 0x900, 0);
	into(A + 60, 24);
	enter(A, A + 16, A + 60, 0);
	enter(A, A + 32, A + 60, 0);
	leave(A, A + 80, A + 60, 0);
	leave(A, A + 90, A + 60, 0);
	out_of(24);
	leave(A, A + 70, 0x900, 0);
	leave(A, A + 80, 0x900, 0);
	leave(A, A + 90, 0x900, 0);
	CHECK_EQ(AT(A)->calls, 1);
	CHECK_EQ(AT(A, A)->calls, 1);
	CHECK_EQ(AT(A, A, A)->calls, 1);
	CHECK_EQ(AT(A, A, A, A)->calls, 1);
	CHECK_EQ(AT(A, A, A, A, A)->calls, 1);
	nothing_is_wrong(0);
}

/* At B's entry, arguments of an earlier call are still below it; at C's entry they are removed. */
static void entries_at_different_stack_pointers_of_a_frame(void)
{
	program_begin(1000);
	into(0x900, 56);
	enter(A, A + 16, 0x900, 0);
	for (int i = 0; i < 2; i++) {
		enter(B, A + 300, 0x900, 16);
		enter(C, A + 320, 0x900, 0);
		leave(C, A + 330, 0x900, 0);
		leave(B, A + 340, 0x900, 0);
	}
	enter(B, A + 400, 0x900, 16);
	enter(D, A + 410, 0x900, 16);
	leave(D, A + 420, 0x900, 0); /* above its own entry, and above B's */
	leave(B, A + 430, 0x900, 0);
	out_of(56);
	leave(A, 0x900, 0x900, 0);
	CHECK_EQ(AT(A)->calls, 1);
	CHECK_EQ(AT(A, B)->calls, 3);
	CHECK_EQ(AT(A, B, C)->calls, 2);
	CHECK_EQ(AT(A, B, D)->calls, 1);
	nothing_is_wrong(0);
}

/* The arguments were larger than the frame of the function that B calls. */
static void a_call_from_above_the_entry_of_its_caller(void)
{
	program_begin(1000);
	into(0x900, 40);
	enter(A, A + 16, 0x900, 0);
	enter(B, A + 300, 0x900, 48);
	into(A + 320, 8);
	enter(D, D + 16, A + 320, 0);
	leave(D, D + 32, A + 320, 0);
	out_of(8);
	leave(B, A + 330, 0x900, 0);
	out_of(40);
	leave(A, 0x900, 0x900, 0);
	CHECK_EQ(AT(A, B, D)->calls, 1);
	nothing_is_wrong(0);
}

/* One code address is entered twice in one frame: the first of these calls has ended. */
static void a_loop_that_is_jumped_back_in(void)
{
	program_begin(1000);
	into(0x900, 24);
	enter(A, A + 16, 0x900, 0);
	for (int i = 0; i < 3; i++) {
		enter(B, A + 300, 0x900, 0);
		enter(C, A + 310, 0x900, 0);
		if (i == 1)
			calls_jumped();
	}
	leave(C, A + 330, 0x900, 0);
	leave(B, A + 340, 0x900, 0);
	leave(A, A + 350, 0x900, 0);
	CHECK_EQ(AT(A, B)->calls, 3);
	CHECK_EQ(AT(A, B, C)->calls, 3);
	nothing_is_wrong(4);
}

/* A calls itself three times from one code address, and a jump leaves the inner calls. */
static void jump_back_to(int level)
{
	uintptr_t before[4], site[4] = {0, 0x900, A + 60, A + 60};

	program_begin(1000);
	for (int i = 1; i <= 3; i++) {
		into(site[i], 24);
		enter(A, A + 16, site[i], 0);
		before[i] = sp;
	}
	sp = before[level];
	calls_jumped();
	for (int i = level; i >= 1; i--) {
		enter(B, A + 300, site[i], 0);
		leave(B, A + 310, site[i], 0);
		leave(A, A + 400, site[i], 0);
		out_of(24);
	}
}

static void jumps_over_levels_of_a_recursion(void)
{
	jump_back_to(1);
	CHECK_EQ(AT(A, B)->calls, 1);
	nothing_is_wrong(2);
	jump_back_to(2);
	CHECK_EQ(AT(A, A, B)->calls, 1);
	CHECK_EQ(AT(A, B)->calls, 1);
	nothing_is_wrong(1);
	jump_back_to(3);
	CHECK_EQ(AT(A, A, A, B)->calls, 1);
	nothing_is_wrong(0);
}

/* The same, but the first event after the jump is the exit of the call to which it jumped. */
static void an_exit_after_a_jump_belongs_to_its_own_level(void)
{
	uintptr_t before;

	program_begin(1000);
	into(0x900, 24);
	enter(A, A + 16, 0x900, 0);
	into(A + 60, 24);
	enter(A, A + 16, A + 60, 0);
	before = sp;
	into(A + 60, 24);
	enter(A, A + 16, A + 60, 0);
	into(A + 60, 24);
	enter(A, A + 16, A + 60, 0);
	sp = before;
	calls_jumped();
	leave(A, A + 400, A + 60, 0);
	out_of(24);
	leave(A, A + 400, 0x900, 0);
	nothing_is_wrong(2);
}

/*
 * Two functions are called by pointer from one code address: a jump leaves the first, and the
 * second is its sibling.
 */
static void a_function_called_where_a_dead_one_was(void)
{
	uintptr_t before;

	program_begin(1000);
	into(0x900, 24);
	enter(A, A + 16, 0x900, 0);
	before = sp;
	into(A + 60, 24);
	enter(B, B + 16, A + 60, 0);
	sp = before;
	calls_jumped();
	into(A + 60, 24);
	enter(C, C + 16, A + 60, 0);
	leave(C, C + 32, A + 60, 0);
	out_of(24);
	leave(A, A + 80, 0x900, 0);
	CHECK_EQ(AT(A, B)->calls, 1);
	CHECK_EQ(AT(A, C)->calls, 1);
	nothing_is_wrong(1);
}

/* Runs on stack `i` of the fixture; stack 0 is the thread's own. */
static uintptr_t on_stack(unsigned i)
{
	return (i + 1ul) * STACK_HIGH - 0x400;
}

static void enter_on(unsigned i, uint64_t function)
{
	calls_enter_at(function, 0x900, on_stack(i), function + 16);
}

static void leave_on(unsigned i, uint64_t function)
{
	calls_exit_at(function, 0x900, on_stack(i), function + 32);
}

/*
 * If there are too many stacks, the least recently used one loses its open calls; the thread's own
 * stack never does.
 */
static void more_stacks_than_fit(void)
{
	program_begin(8);
	enter_on(0, A);
	for (unsigned i = 1; i < CALLS_STACKS; i++)
		enter_on(i + 10, B);
	CHECK_EQ(calls_table.header->nested_stacks, 0);
	/* The oldest stack is used again, then a new one: now the second oldest is dropped. */
	for (unsigned i = 11; i <= 14; i += 3) {
		calls_enter_at(C, 0x904, on_stack(i) - 64, C + 16);
		calls_exit_at(C, 0x904, on_stack(i) - 64, C + 32);
	}
	enter_on(CALLS_STACKS + 10, D);
	CHECK_EQ(calls_table.header->nested_stacks, 1);
	CHECK(calls_table.header->flags & ASSAY_CALLS_STACKS);
	leave_on(CALLS_STACKS + 10, D);
	leave_on(11, B);
	leave_on(13, B);
	leave_on(CALLS_STACKS + 9, B);
	leave_on(0, A);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
	leave_on(12, B);
	CHECK_EQ(calls_table.header->unmatched_exits, 1);
}

/* The guessed bounds of the neighbouring stack overlap the current one. */
static void guessed_bounds_end_at_the_current_stack(bool below)
{
	uintptr_t own = 0x500000, beside = below ? own - 0x4000 - 0x100 : own + 0x1000 + 0x100;

	program_begin(8);
	stack_guess = true;
	calls_enter_at(A, 0x900, own, A + 16); /* own - 0x4000 to own + 0x1000 */
	calls_enter_at(B, 0x904, beside, B + 16);
	/* On the first stack, within the guessed bounds of the second. */
	calls_enter_at(C, 0x908, below ? own - 0x3f00 : own - 0x200, C + 16);
	calls_exit_at(C, 0x908, below ? own - 0x3f00 : own - 0x200, C + 32);
	calls_exit_at(B, 0x904, beside, B + 32);
	calls_exit_at(A, 0x900, own, A + 32);
	CHECK_EQ(AT(A, B)->calls, 1);
	CHECK_EQ(AT(A, C)->calls, 1);
	nothing_is_wrong(0);
}

static void guessed_bounds_below_and_above(void)
{
	guessed_bounds_end_at_the_current_stack(true);
	guessed_bounds_end_at_the_current_stack(false);
}

static jmp_buf before_handler;

static void leaving_handler(void)
{
	sp -= 1024;
	into(B + 40, 24);
	enter(C, C + 16, B + 40, 0);
	calls_jumped();
	longjmp(before_handler, 1);
}

/*
 * A jump left a handler, so the hook that it interrupted does not continue: the handler's mark is
 * invalid.
 */
static void handlers_left_by_a_jump_are_no_flood(void)
{
	volatile uint64_t round = 0;
	volatile uintptr_t here;

	program_begin(1000);
	into(0x900, 24);
	enter(A, A + 16, 0x900, 0);
	here = sp;
	setjmp(before_handler);
	sp = here;
	/*
	 * The first event after a jump searches the stack, and signals may interrupt the next one.
	 */
	into(A + 30, 24);
	enter(D, D + 16, A + 30, 0);
	leave(D, D + 26, A + 30, 0);
	out_of(24);
	into(A + 60, 24);
	if (round++ < 3000)
		embedded_interrupt = leaving_handler;
	enter(B, B + 16, A + 60, 0);
	leave(B, B + 26, A + 60, 0);
	out_of(24);
	leave(A, A + 80, 0x900, 0);
	CHECK_EQ(AT(A)->calls, 1);
	CHECK_EQ(AT(A, B)->calls, 1);
	CHECK_EQ(AT(A, C)->calls, 3000);
	CHECK_EQ(AT(A, D)->calls, 3001);
	CHECK_EQ(calls_table.header->lost_events, 0);
	nothing_is_wrong(3000);
}

int main(void)
{
	RUN(recursion_inlined_into_itself);
	RUN(entries_at_different_stack_pointers_of_a_frame);
	RUN(a_call_from_above_the_entry_of_its_caller);
	RUN(a_loop_that_is_jumped_back_in);
	RUN(jumps_over_levels_of_a_recursion);
	RUN(an_exit_after_a_jump_belongs_to_its_own_level);
	RUN(a_function_called_where_a_dead_one_was);
	RUN(more_stacks_than_fit);
	RUN(guessed_bounds_below_and_above);
	RUN(handlers_left_by_a_jump_are_no_flood);
	return check_end();
}
