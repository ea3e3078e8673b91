/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: entries are paired with the returns of the same thread. */
#include "check.h"

#include "profile/waits/system_calls.h"

#include <errno.h>

static void enter(struct system_calls *s, uint32_t thread, uint64_t time_ns, int64_t number,
                  uint64_t argument)
{
	system_calls_add(
	        s, thread / 10, thread, time_ns,
	        &(struct event_system_call){.known = true, .number = number, .argument = argument});
}

static void leave(struct system_calls *s, uint32_t thread, uint64_t time_ns, int64_t number,
                  int64_t result)
{
	system_calls_add(s, thread / 10, thread, time_ns,
	                 &(struct event_system_call){
	                         .known = true, .exit = true, .number = number, .result = result});
}

static void calls_are_paired_by_thread(void)
{
	struct system_calls s = {.wanted = true};

	leave(&s, 11, 5, 0, 1); /* it was entered before the recording */
	enter(&s, 11, 10, 0, 3);
	enter(&s, 12, 11, 0, 3);
	leave(&s, 12, 15, 0, -EAGAIN);
	leave(&s, 11, 30, 0, 100);
	enter(&s, 12, 40, 0, 4);
	leave(&s, 12, 41, 0, 0);
	enter(&s, 12, 50, 60, 0); /* exit does not return */
	system_calls_finish(&s);
	CHECK_EQ(s.sums.count, 2);
	CHECK_EQ(s.sums.items[0].key.process, 1);
	CHECK_EQ(s.sums.items[0].key.descriptor, 3);
	CHECK_EQ(s.sums.items[0].count, 2);
	CHECK_EQ(s.sums.items[0].failed, 1);
	CHECK_EQ(s.sums.items[0].ns, 24);
	CHECK_EQ(s.sums.items[0].min_ns, 4);
	CHECK_EQ(s.sums.items[0].max_ns, 20);
	CHECK_EQ(s.sums.items[0].errors.count, 1);
	CHECK_EQ(s.sums.items[0].errors.items[0].error, EAGAIN);
	CHECK_EQ(s.sums.items[1].key.descriptor, 4);
	CHECK_EQ(s.unentered, 1);
	CHECK_EQ(s.unreturned, 1);
	system_calls_done(&s);
}

static void large_results_are_no_errors(void)
{
	struct system_calls s = {.wanted = true};

	system_calls_file(&s, 0, 3, 7);
	enter(&s, 1, 10, 9, 0x7f0000000003);
	leave(&s, 1, 12, 9, -4096); /* an address of the upper half */
	CHECK_EQ(s.sums.items[0].failed, 0);
	CHECK_EQ(s.sums.items[0].key.descriptor, SYSTEM_CALL_NO_DESCRIPTOR);
	CHECK_EQ(s.sums.items[0].key.file, ID_NONE);
	system_calls_done(&s);
}

static void calls_have_the_present_file_of_their_descriptor(void)
{
	struct system_calls s = {.wanted = true};

	for (uint32_t file = 7; file < 9; file++) {
		system_calls_file(&s, 1, 3, file);
		enter(&s, 11, 10, 0, 3);
		leave(&s, 11, 12, 0, 0);
		enter(&s, 21, 20, 0, 3); /* another process */
		leave(&s, 21, 22, 0, 0);
	}
	CHECK_EQ(s.sums.count, 3);
	CHECK_EQ(s.sums.items[0].key.file, 7);
	CHECK_EQ(s.sums.items[1].key.file, ID_NONE);
	CHECK_EQ(s.sums.items[1].count, 2);
	CHECK_EQ(s.sums.items[2].key.file, 8);
	system_calls_done(&s);
}

static void calls_around_lost_records_are_not_paired(void)
{
	struct system_calls s = {.wanted = true};

	enter(&s, 1, 10, 0, 3);
	system_calls_lost(&s); /* the return, and the entry of the next call */
	leave(&s, 1, 90, 0, 0);
	CHECK_EQ(s.sums.count, 0);
	CHECK_EQ(s.unreturned, 1);
	CHECK_EQ(s.unentered, 1);
	enter(&s, 1, 100, 0, 3);
	leave(&s, 1, 101, 1, 0); /* another call */
	CHECK_EQ(s.sums.count, 0);
	CHECK_EQ(s.unentered, 2);
	system_calls_done(&s);
}

static void memory_is_bounded(void)
{
	struct system_calls s = {.wanted = true};
	uint64_t calls = 0, time_ns = 1;

	for (uint32_t i = 0; i < 3 * SYSTEM_CALLS_MAX; i++, time_ns += 2) {
		enter(&s, 1, time_ns, 0, i);
		leave(&s, 1, time_ns + 1, 0, 0);
	}
	vec_each (sum, &s.sums)
		calls += sum->count;
	CHECK_EQ(s.sums.count, SYSTEM_CALLS_MAX + 1);
	CHECK_EQ(calls, 3 * SYSTEM_CALLS_MAX);
	CHECK_EQ(s.beyond, 0);
	system_calls_done(&s);
}

static void threads_begin_change_and_end(void)
{
	struct system_calls s = {.wanted = true};

	system_calls_fork(&s, 5);
	leave(&s, 5, 10, 56, 0); /* clone returns in the new thread */
	enter(&s, 5, 20, 59, 0x7f00000000);
	system_calls_exec(&s, 5, 6);
	leave(&s, 6, 30, 59, 0);
	enter(&s, 6, 40, 60, 0);
	system_calls_exit(&s, 6);
	system_calls_finish(&s);
	CHECK_EQ(s.sums.count, 1);
	CHECK_EQ(s.sums.items[0].key.number, 59);
	CHECK_EQ(s.sums.items[0].ns, 10);
	CHECK_EQ(s.unentered, 0);
	CHECK_EQ(s.unreturned, 0);
	CHECK_EQ(s.last, 1);
	system_calls_done(&s);
}

int main(void)
{
	RUN(calls_are_paired_by_thread);
	RUN(threads_begin_change_and_end);
	RUN(large_results_are_no_errors);
	RUN(calls_have_the_present_file_of_their_descriptor);
	RUN(calls_around_lost_records_are_not_paired);
	RUN(memory_is_bounded);
	return check_end();
}
