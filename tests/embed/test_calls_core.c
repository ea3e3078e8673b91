/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core of call paths, compiled freestanding: times, paths, limits, resets, threads. */
#include "core_fixture.h"

static uintptr_t stack = STACK_HIGH - 16; /* of the simulated program */

/* Calls `function`, which needs 64 bytes of stack and runs `ticks`. */
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

static void every_tick_has_its_place(void)
{
	fresh(1000, TABLE_BYTES);
	for (int i = 0; i < 3; i++) {
		call(A, 10);
		call(B, 20);
		call(D, 40);
		back(D, 3);
		back(B, 5);
		call(C, 30);
		back(C, 7);
		back(A, 100);
	}
	call(A, 0);
	back(A, 0);
	CHECK_EQ(AT(A)->calls, 4);
	CHECK_EQ(AT(A)->net, 3 * (10 + 5 + 7));
	CHECK_EQ(AT(A, B)->net, 3 * 23);
	CHECK_EQ(AT(A, B, D)->net, 3 * 40);
	CHECK_EQ(AT(A, C)->calls, 3);
	CHECK_EQ(root()->net, 300);
	CHECK_EQ(AT(A)->min, 0);
	CHECK_EQ(AT(A)->max, 22);
	CHECK(!AT(B));
	CHECK_EQ(embedded_self->record->current, embedded_self->record->root);
}

static void waiting_is_no_net(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 1000);
	switches++;
	waits = (struct port_waits){.blocked = 700, .preempted = 200, .blocked_count = 2};
	back(A, 0);
	CHECK_EQ(AT(A)->net, 100);
	CHECK_EQ(((struct assay_calls_wait *)calls_node(AT(A)->wait))->blocked, 700);
	CHECK_EQ(((struct assay_calls_wait *)calls_node(AT(A)->wait))->preempted, 200);
	CHECK_EQ(AT(A)->max, 100);
}

static void take_long_and_be_switched_out(void)
{
	embedded_now += 5000;
	switches++;
	waits = (struct port_waits){.preempted = 2000, .preempted_count = 1};
}

/* A hash table that grows takes milliseconds, and a thread is often switched out in it. */
static void a_switch_in_a_slow_path_charges_no_call_with_it(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 10);
	in_slow_path = take_long_and_be_switched_out;
	call(B, 20);
	back(B, 7);
	back(A, 5);
	CHECK_EQ(AT(A)->net, 17);
	CHECK_EQ(AT(A, B)->net, 20);
	CHECK_EQ(AT(A, B)->max, 20);
	CHECK_EQ(((struct assay_calls_wait *)calls_node(AT(A, B)->wait))->preempted, 2000);
	CHECK_EQ(embedded_self->record->own, 3000);
}

/* The child of a vfork runs: the parent's switch in is recorded only when the parent continues. */
static void a_thread_that_is_out_is_asked_at_each_event(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 10);
	switches++;
	for (int i = 0; i < 3; i++) {
		waits = (struct port_waits){.blocked = i ? 0 : 5, .is_out = true};
		call(B, 100);
		waits = (struct port_waits){.blocked = 100, .is_out = true};
		back(B, 0);
	}
	switches++;
	back(A, 0);
	CHECK_EQ(AT(A, B)->net, 0);
	CHECK_EQ(AT(A)->net, 5);
	CHECK_EQ(((struct assay_calls_wait *)calls_node(AT(A, B)->wait))->blocked, 300);
	CHECK_EQ(((struct assay_calls_wait *)calls_node(AT(A)->wait))->blocked, 5);
}

static void a_jump_closes_the_calls_that_it_left(void)
{
	uintptr_t before;

	fresh(1000, TABLE_BYTES);
	call(A, 1);
	before = stack;
	call(B, 2);
	call(C, 4);
	stack = before; /* longjmp to A */
	call(D, 8);
	back(D, 16);
	back(A, 0);
	CHECK_EQ(AT(A, D)->calls, 1);
	CHECK_EQ(AT(A, D)->net, 8);
	CHECK_EQ(AT(A)->net, 1 + 16);
	CHECK_EQ(calls_table.header->resyncs, 2);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
	CHECK_EQ(embedded_self->record->current, embedded_self->record->root);
}

static void too_deep_goes_to_other(void)
{
	fresh(8, TABLE_BYTES);
	for (int i = 0; i < 50; i++)
		call(A, 1);
	for (int i = 0; i < 50; i++)
		back(A, 0);
	call(B, 5);
	back(B, 0);
	CHECK(calls_table.header->flags & ASSAY_CALLS_DEEP);
	CHECK_EQ(calls_table.header->other_calls, 50 - 8);
	CHECK_EQ(AT(A, A, A, A, A, A, A, A)->calls, 1);
	CHECK_EQ(AT(A, A, A, A, A, A, A, A, ASSAY_FN_OTHER)->calls, 42);
	CHECK_EQ(AT(A, A, A, A, A, A, A, A, ASSAY_FN_OTHER)->net, 42);
	CHECK_EQ(AT(B)->net, 5);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
}

static void a_full_table_counts_on(void)
{
	uint64_t named = 0, other = 0;

	fresh(1000, 64 << 10);
	for (uint64_t i = 1; i <= 5000; i++) {
		call(A, 1);
		call(i << 12, 1);
		call(B, 1);
		back(B, 0);
		back(i << 12, 0);
		back(A, 0);
	}
	CHECK(calls_table.header->flags & ASSAY_CALLS_FULL);
	CHECK_EQ(AT(A)->calls, 5000);
	for (uint64_t i = 1; i <= 5000; i++) {
		struct assay_calls_node *n = node(AT(A), i << 12), *b = n ? node(n, B) : NULL;

		named += (n ? n->calls : 0) + (b ? b->calls : 0);
		n = n ? node(n, ASSAY_FN_OTHER) : NULL;
		other += n ? n->calls : 0;
	}
	other += node(AT(A), ASSAY_FN_OTHER)->calls;
	CHECK(named > 100);
	CHECK_EQ(named + other, 10000);
	CHECK_EQ(other, calls_table.header->other_calls);
}

/* Ticks of all paths in the table: net, and blocked. */
static void sum_table(uint64_t *net, uint64_t *blocked)
{
	*net = *blocked = 0;
	for (uint64_t at = ASSAY_CALLS_PAGE; at < calls_table.header->used_bytes;) {
		const struct assay_calls_chunk *chunk = (const void *)(table + at);
		const struct assay_calls_wait *rows = (const void *)(chunk + 1);
		const struct assay_calls_node *nodes = (const void *)(chunk + 1);

		for (uint64_t i = 0; i < chunk->used; i++) {
			*net += chunk->kind == ASSAY_CHUNK_NODES ? nodes[i].net : 0;
			*blocked += chunk->kind == ASSAY_CHUNK_WAITS ? rows[i].blocked : 0;
		}
		at += chunk->bytes;
	}
}

/* If a path has no room for its waiting, an outer path gets it; it is never part of net. */
static void waiting_in_a_full_table_is_no_net(void)
{
	uint64_t net, blocked;

	fresh(1000, 64 << 10);
	for (uint64_t i = 1; i <= 2000; i++) {
		call(A, 0);
		call(i << 12, 500);
		switches++;
		waits = (struct port_waits){.blocked = 490, .blocked_count = 1};
		back(i << 12, 0);
		back(A, 0);
	}
	sum_table(&net, &blocked);
	CHECK(calls_table.header->flags & ASSAY_CALLS_FULL);
	CHECK_EQ(net, 2000 * 10);
	CHECK_EQ(blocked, 2000 * 490);
}

static void a_reset_restarts_min_and_max(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 50);
	back(A, 0);
	call(A, 500);
	back(A, 0);
	calls_table.header->epoch++;
	embedded_self->record->epoch = ASSAY_CALLS_RESTART;
	call(A, 70);
	back(A, 0);
	CHECK_EQ(AT(A)->min, 70);
	CHECK_EQ(AT(A)->max, 70);
	CHECK_EQ(AT(A)->calls, 3);
	CHECK_EQ(embedded_self->record->epoch, 1);
}

/* A signal handler calls hooks while another hook is about to read the clock. */
static void handler(void)
{
	stack -= 1000;
	call(C, 30);
	call(D, 5);
	back(D, 0);
	back(C, 0);
	stack += 1000;
}

static void a_hook_that_is_interrupted_loses_nothing(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 10);
	embedded_interrupt = handler;
	call(B, 20); /* during B's entry hook, whose time is charged to A */
	embedded_interrupt = handler;
	back(B, 1); /* within B's exit */
	back(A, 0);
	CHECK_EQ(AT(A)->calls, 1);
	CHECK_EQ(AT(A, B)->calls, 1);
	CHECK_EQ(AT(A, C)->calls, 1);
	CHECK_EQ(AT(A, B, C)->calls, 1);
	CHECK_EQ(AT(A, B, C, D)->net, 5);
	CHECK_EQ(AT(A)->net, 11);
	CHECK_EQ(AT(A, B)->net, 20);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
	CHECK_EQ(embedded_self->record->current, embedded_self->record->root);
}

static unsigned marks_open(void)
{
	struct calls_frame *f = calls_home(embedded_self)->top;
	unsigned marks = 0;

	for (; f; f = calls_frame_below(embedded_self, f))
		marks += calls_is_mark(f) && f->site; /* the lowest frame is not a handler's */
	return marks;
}

/*
 * The slow path of an entry releases signals: the handler's mark is removed when the handler
 * returns.
 */
static void a_handler_after_a_slow_path_leaves_no_mark(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 0);
	for (uint64_t i = 0; i < 10; i++) {
		pending = handler;
		call(C + i * 0x100, 0);
		CHECK(!pending);
		CHECK_EQ(marks_open(), 0);
		CHECK_EQ(calls_home(embedded_self)->top->node->function, C + i * 0x100);
	}
	for (uint64_t i = 10; i--;)
		back(C + i * 0x100, 0);
	back(A, 0);
	CHECK_EQ(AT(A, C, C + 0x100, C + 0x200)->calls, 1);
	CHECK_EQ(calls_table.header->resyncs, 0);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
	CHECK_EQ(embedded_self->record->current, embedded_self->record->root);
}

static unsigned handlers_left;

/* Nests this number of handlers, each in a hook of the previous one. */
static void handlers(void)
{
	stack -= 1000;
	if (--handlers_left)
		embedded_interrupt = handlers;
	call(C, 0);
	back(C, 0);
	stack += 1000;
}

/* Each mark takes time; there is too little of it if handlers follow each other too fast. */
static void handlers_that_interrupt_each_other_too_deeply_are_lost_and_counted(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 0);
	for (unsigned round = 1; round <= 3; round++) {
		handlers_left = 9;
		embedded_interrupt = handlers;
		call(B, 0);
		CHECK_EQ(calls_table.header->lost_events, 2 * round);
		CHECK_EQ(marks_open(), 0);
		back(B, 0);
		CHECK_EQ(AT(A, B)->calls, round);
		CHECK_EQ(AT(A, C)->calls, 8 * round);
	}
	handlers_left = 8;
	embedded_interrupt = handlers;
	call(B, 0);
	back(B, 0);
	back(A, 0);
	CHECK_EQ(AT(A, C)->calls, 8 * 4);
	CHECK_EQ(calls_table.header->lost_events, 2 * 3);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
	CHECK_EQ(calls_table.header->resyncs, 0);
}

static unsigned readings_left;

/* Runs the handler at this reading of the clock, counted from now. */
static void count_readings(void)
{
	if (--readings_left)
		embedded_interrupt = count_readings;
	else
		handler();
}

static void handler_at_reading(unsigned number)
{
	readings_left = number;
	embedded_interrupt = count_readings;
}

/* The handler runs at the last reading of the clock in a slow path. */
static void a_handler_at_the_end_of_a_slow_path_loses_no_time(void)
{
	uint64_t net, blocked;

	fresh(1000, TABLE_BYTES);
	call(A, 10);
	handler_at_reading(2);
	call(B, 20); /* a new path */
	back(B, 1);
	back(A, 0);
	sum_table(&net, &blocked);
	CHECK_EQ(net + embedded_self->record->own, 10 + 35 + 20 + 1);
	CHECK_EQ(embedded_self->record->last, embedded_now);
}

/* The same while a hook measures its own cost, which reads the clock four more times. */
static void a_handler_in_a_cost_sample_moves_no_time(void)
{
	for (unsigned i = 1; i <= 5; i++) {
		fresh(1000, TABLE_BYTES);
		call(A, 10);
		handler();
		call(B, 0);
		back(B, 0);
		embedded_self->state = CALLS_SAMPLE;
		handler_at_reading(i);
		call(B, 20);
		back(B, 1);
		back(A, 0);
		CHECK_EQ(AT(A)->net, 10 + 1);
		CHECK_EQ(AT(A, B)->net, 20);
		CHECK_EQ(embedded_self->record->own, 0);
		CHECK_EQ(embedded_self->record->last, embedded_now);
	}
}

/* Hooks that took the slow path or took too long do not count as measurements of the cost. */
static void a_cost_sample_is_of_the_fast_path(void)
{
	struct assay_calls_sample *enter;

	fresh(1000, TABLE_BYTES);
	call(A, 0);
	enter = &embedded_self->record->enter;
	embedded_self->state = CALLS_SAMPLE;
	call(B, 0); /* a new path */
	CHECK_EQ(enter->count, 0);
	back(B, 0);
	embedded_self->state = CALLS_SAMPLE;
	call(B, 0);
	CHECK_EQ(enter->count, 1);
	back(B, 0);
}

static void other_stacks_are_left_and_gone_back_to(void)
{
	uintptr_t own = stack;

	fresh(1000, TABLE_BYTES);
	call(A, 1);
	for (int i = 0; i < 3; i++) {
		uintptr_t here = stack;

		stack = 2 * STACK_HIGH - 100; /* a coroutine's */
		if (i == 0)
			call(B, 10);
		else
			stack -= 64;
		call(C, 20);
		back(C, 40);
		stack = here;
		call(D, 80);
		back(D, 0);
	}
	back(A, 0);
	stack = own;
	CHECK_EQ(AT(A, B)->calls, 1);
	CHECK_EQ(AT(A, B, C)->calls, 3);
	CHECK_EQ(AT(A, D)->calls, 3);
	CHECK_EQ(AT(A, B, C)->net, 60);
	CHECK_EQ(AT(A, D)->net, 240);
	CHECK_EQ(AT(A, B)->net, 10 + 3 * 40);
	CHECK_EQ(calls_table.header->resyncs, 0);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
}

static void time_of_omitted_functions_is_their_callers(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 1);
	call(0x666, 2);
	call(B, 4);
	back(B, 8);
	back(0x666, 16);
	back(A, 0);
	CHECK_EQ(AT(A)->net, 1 + 2 + 8 + 16);
	CHECK_EQ(AT(A, B)->calls, 1);
	CHECK_EQ(calls_table.header->unmatched_exits, 0);
}

static void an_exit_unseen_at_entry_is_counted(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 1);
	calls_exit_at(B, 0x9000 + B, stack - 64, B + 40);
	back(A, 0);
	CHECK_EQ(calls_table.header->unmatched_exits, 1);
	CHECK_EQ(AT(A)->calls, 1);
}

/* The times of the shortest and longest call exclude the cost of counting inside the call. */
static void least_and_most_are_without_the_cost_inside(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 10);
	embedded_self->inner = 3;
	call(B, 20);
	back(B, 0);
	CHECK_EQ(AT(A, B)->net, 20);
	CHECK_EQ(AT(A, B)->min, 17);
	CHECK_EQ(AT(A, B)->max, 17);
	/* The same for calls in which the thread waited. */
	call(B, 40);
	switches++;
	waits = (struct port_waits){.blocked = 25, .blocked_count = 1};
	back(B, 0);
	CHECK_EQ(AT(A, B)->net, 35);
	CHECK_EQ(AT(A, B)->min, 12);
	CHECK_EQ(AT(A, B)->max, 17);
	back(A, 0);
	CHECK_EQ(AT(A)->max, 7);
}

/*
 * A function may end by a jump to the exit hook. It has then left its frame: the hook sees the
 * caller's stack pointer, and returns to the call site. An exit with another call site belongs to a
 * call without a recorded entry, because the innermost call is still active.
 */
static void an_exit_hook_that_was_jumped_to_ends_its_call(void)
{
	fresh(1000, TABLE_BYTES);
	call(A, 10);
	call(B, 20);
	stack += 64;
	calls_exit_at(B, 0x9000 + B, stack, 0x9000 + B);
	embedded_now += 5;
	CHECK_EQ(embedded_self->record->current, calls_id(AT(A)));
	call(C, 1);
	calls_exit_at(C, 0x9100 + C, stack + 64, C + 40);
	CHECK_EQ(calls_table.header->unmatched_exits, 1);
	CHECK_EQ(embedded_self->record->current, calls_id(AT(A, C)));
	back(C, 0);
	back(A, 0);
	CHECK_EQ(AT(A, B)->calls, 1);
	CHECK_EQ(AT(A, B)->net, 20);
	CHECK_EQ(AT(A, B)->max, 20);
	CHECK_EQ(AT(A)->net, 15);
	CHECK_EQ(AT(A, C)->net, 1);
	CHECK_EQ(calls_table.header->unmatched_exits, 1);
	CHECK_EQ(calls_table.header->resyncs, 0);
}

static void a_record_goes_to_the_next_thread(void)
{
	struct assay_calls_thread *record;

	fresh(1000, TABLE_BYTES);
	call(A, 5);
	back(A, 0);
	record = embedded_self->record;
	calls_thread_end();
	CHECK(embedded_self == &calls_unborn);
	CHECK_EQ(record->tid, 0);
	CHECK_EQ(record->past_wall, 5);
	embedded_now += 77;
	call(A, 6);
	back(A, 0);
	CHECK(embedded_self->record == record);
	CHECK_EQ(record->threads, 2);
	CHECK_EQ(AT(A)->calls, 2);
	CHECK_EQ(AT(A)->net, 11);
}

/* A reader walks from chunk to chunk; the field `thread` is the owner of a chunk's nodes. */
static void each_chunk_is_as_the_header_file_says(void)
{
	uint64_t kinds[ASSAY_CHUNK_IMAGES + 1] = {0}, nodes = 0;
	const struct assay_calls_header *h = (const void *)table;
	uint32_t record;

	fresh(1000, TABLE_BYTES);
	for (uint64_t i = 1; i <= 300; i++) {
		call(i << 12, 5);
		waits = (struct port_waits){.blocked = 2, .blocked_count = 1};
		switches++;
		back(i << 12, 0);
	}
	record = calls_id(embedded_self->record);
	for (uint64_t offset = h->header_bytes; offset < h->used_bytes;) {
		const struct assay_calls_chunk *chunk = (const void *)(table + offset);

		CHECK(chunk->kind >= ASSAY_CHUNK_THREAD && chunk->kind <= ASSAY_CHUNK_IMAGES);
		CHECK(chunk->bytes && chunk->bytes % ASSAY_CALLS_PAGE == 0);
		if (!chunk->bytes || chunk->kind > ASSAY_CHUNK_IMAGES)
			break;
		CHECK_EQ(chunk->thread, chunk->kind == ASSAY_CHUNK_THREAD ? 0 : record);
		if (chunk->kind == ASSAY_CHUNK_THREAD)
			CHECK_EQ(chunk->used, 1);
		kinds[chunk->kind]++;
		nodes += chunk->kind == ASSAY_CHUNK_NODES ? chunk->used : 0;
		offset += chunk->bytes;
	}
	CHECK_EQ(kinds[ASSAY_CHUNK_THREAD], 1);
	CHECK(kinds[ASSAY_CHUNK_NODES] >= 1);
	CHECK(kinds[ASSAY_CHUNK_WAITS] >= 1);
	CHECK(nodes > 300);
}

int main(void)
{
	RUN(every_tick_has_its_place);
	RUN(waiting_is_no_net);
	RUN(a_switch_in_a_slow_path_charges_no_call_with_it);
	RUN(a_thread_that_is_out_is_asked_at_each_event);
	RUN(a_jump_closes_the_calls_that_it_left);
	RUN(too_deep_goes_to_other);
	RUN(a_full_table_counts_on);
	RUN(waiting_in_a_full_table_is_no_net);
	RUN(a_reset_restarts_min_and_max);
	RUN(a_hook_that_is_interrupted_loses_nothing);
	RUN(a_handler_after_a_slow_path_leaves_no_mark);
	RUN(handlers_that_interrupt_each_other_too_deeply_are_lost_and_counted);
	RUN(a_handler_at_the_end_of_a_slow_path_loses_no_time);
	RUN(a_handler_in_a_cost_sample_moves_no_time);
	RUN(a_cost_sample_is_of_the_fast_path);
	RUN(other_stacks_are_left_and_gone_back_to);
	RUN(time_of_omitted_functions_is_their_callers);
	RUN(an_exit_unseen_at_entry_is_counted);
	RUN(least_and_most_are_without_the_cost_inside);
	RUN(an_exit_hook_that_was_jumped_to_ends_its_call);
	RUN(a_record_goes_to_the_next_thread);
	RUN(each_chunk_is_as_the_header_file_says);
	return check_end();
}
