/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rule 6 of tags/tag_engine.h, on captures written by hand: the process that continues, idle time,
 * and interrupts.
 */
#include "tag_steps_fixture.h"

static void idle_time_has_no_process_except_interrupts_in_it(void)
{
	struct capture c;
	static const char out[] = "p1 > a 0 @0\n"
	                          "p1 > swtch 1 @10\n"
	                          "p1 out @10\n"
	                          "> c 0 @20\n"
	                          "> d 1 @21\n"
	                          "< d 1 @23 net 2 total 2\n"
	                          "< c 0 @25 net 3 total 5\n"
	                          "p1 in @40\n";

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {10, TAG_SWTCH}, {20, TAG_C}, {21, TAG_D}, {23, EXIT(TAG_D)},
	    {25, EXIT(TAG_C)}, {40, EXIT(TAG_SWTCH)}, {44, EXIT(TAG_A)});
	struct buf want = {0};

	buf_addf(&want,
	         "%sp1 < swtch 1 @40 net 0 total 0 wall 30\n"
	         "p1 < a 0 @44 net 14 total 14 wall 44\n",
	         out);
	check_steps(&c, false, buf_text(&want));
	buf_clear(&want);
	buf_addf(&want,
	         "%sp1 < swtch 1 @40 net 0 total 30\n"
	         "p1 < a 0 @44 net 14 total 44\n",
	         out);
	check_steps(&c, true, buf_text(&want));
	buf_done(&want);
	capture_done(&c);
}

/*
 * Process 1 waits in a, process 2 in b; the first exit identifies the process, after calls of its
 * own.
 */
static void the_first_exit_identifies_the_process(void)
{
	struct capture c;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_SWTCH}, {2, EXIT(TAG_SWTCH)}, {3, EXIT(TAG_D)}, {4, TAG_B},
	    {5, TAG_SWTCH}, {10, EXIT(TAG_SWTCH)}, {11, TAG_C}, {12, EXIT(TAG_C)},
	    {13, EXIT(TAG_A)}, {14, TAG_SWTCH}, {15, EXIT(TAG_SWTCH)}, {18, EXIT(TAG_B)});
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > swtch 1 @1\n"
	            "p1 out @1\n"
	            "p2 in @2\n"
	            "p2 ! swtch 0 @2\n"
	            "p2 ! d 0 @3\n"
	            "p2 > b 0 @4\n"
	            "p2 > swtch 1 @5\n"
	            "p2 out @5\n"
	            "p1 in @10\n"
	            "p1 < swtch 1 @10 net 0 total 0 wall 9\n"
	            "p1 > c 1 @11\n"
	            "p1 < c 1 @12 net 1 total 1\n"
	            "p1 < a 0 @13 net 3 total 4 wall 13\n"
	            "p1 > swtch 0 @14\n"
	            "p1 out @14\n"
	            "p2 in @15\n"
	            "p2 < swtch 1 @15 net 0 total 0 wall 10\n"
	            "p2 < b 0 @18 net 4 total 4 wall 14\n"
	            "p1 o swtch 0 @18 net 0 total 0 wall 4\n");
	CHECK_EQ(damage.guesses, 0);
	CHECK_EQ(damage.unmatched_exits, 2);
	capture_done(&c);
}

/* Two processes wait in c, called by b, called by a or d: the third exit identifies the process. */
static void two_wait_alike(struct capture *c)
{
	begin(c, true);
	PUT(c, {0, TAG_A}, {1, TAG_B}, {2, TAG_C}, {3, TAG_SWTCH}, {4, EXIT(TAG_SWTCH)},
	    {5, EXIT(TAG_PLACE)}, {6, TAG_D}, {7, TAG_B}, {8, TAG_C}, {9, TAG_SWTCH},
	    {10, EXIT(TAG_SWTCH)});
}

static void the_third_exit_may_identify_the_process(void)
{
	struct capture c;
	struct capture_steps steps = {0};

	two_wait_alike(&c);
	PUT(&c, {11, EXIT(TAG_C)}, {12, EXIT(TAG_B)}, {15, EXIT(TAG_D)});
	capture_run(&c, 0, false, &steps, &damage);
	struct tag_step *last = vec_last(&steps.told) - 4;

	CHECK_EQ(last->kind, TAG_STEP_EXIT);
	CHECK_EQ(last->tag, TAG_D);
	CHECK_EQ(last->process, 2);
	CHECK_EQ(last->net, 1 + 3);
	CHECK_EQ(last->total, 3 + 5);
	CHECK(!last->uncertain);
	CHECK_EQ(damage.guesses, 0);
	vec_done(&steps.told);
	capture_done(&c);
}

static void an_unidentified_process_is_guessed(void)
{
	struct capture c;
	struct capture_steps steps = {0};

	two_wait_alike(&c);
	PUT(&c, {11, EXIT(TAG_C)}, {12, TAG_SWTCH});
	capture_run(&c, 0, false, &steps, &damage);
	CHECK_EQ(damage.guesses, 1);
	vec_each (s, &steps.told) {
		if (s->kind != TAG_STEP_EXIT || s->tag != TAG_C)
			continue;
		CHECK_EQ(s->process, 1); /* it waited longest */
		CHECK(s->uncertain);
		CHECK_EQ(s->time, 11);
		CHECK_EQ(s->total, 2);
	}
	vec_done(&steps.told);
	capture_done(&c);
}

static void an_exit_that_fits_none_ends_the_question(void)
{
	struct capture c;

	two_wait_alike(&c);
	PUT(&c, {11, EXIT(TAG_C)}, {12, EXIT(TAG_D)});
	struct capture_steps steps = {0};

	capture_run(&c, 0, false, &steps, &damage);
	CHECK_EQ(damage.guesses, 1);
	CHECK_EQ(damage.missing_exits, 0); /* process 1 has no d */
	CHECK_EQ(damage.unmatched_exits, 3);
	vec_done(&steps.told);
	capture_done(&c);
}

static void no_exit_and_one_that_waits_is_no_guess(void)
{
	struct capture c;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_SWTCH}, {5, EXIT(TAG_SWTCH)}, {6, TAG_B});
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > swtch 1 @1\n"
	            "p1 out @1\n"
	            "p1 in @5\n"
	            "p1 < swtch 1 @5 net 0 total 0 wall 4\n"
	            "p1 > b 1 @6\n"
	            "p1 o b 1 @6 net 0 total 0\n"
	            "p1 o a 0 @6 net 2 total 2 wall 6\n");
	CHECK_EQ(damage.guesses, 0);
	capture_done(&c);
}

static void switch_functions_may_call_each_other(void)
{
	struct capture c;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_SWTCH}, {3, TAG_SWTCH2}, {7, EXIT(TAG_SWTCH2)}, {8, TAG_B},
	    {10, EXIT(TAG_B)}, {11, EXIT(TAG_SWTCH)}, {15, EXIT(TAG_A)});
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > swtch 1 @1\n"
	            "p1 out @1\n"
	            "p1 > cpu_switch 2 @3\n"
	            "p1 in @7\n"
	            "p1 < cpu_switch 2 @7 net 0 total 0 wall 4\n"
	            "p1 > b 2 @8\n"
	            "p1 < b 2 @10 net 2 total 2\n"
	            "p1 < swtch 1 @11 net 0 total 2 wall 10\n"
	            "p1 < a 0 @15 net 5 total 7 wall 15\n");
	capture_done(&c);
}

/*
 * The child of a fork begins without an exit of the function `!` (idle). It counts as a process
 * when it waits for the first time.
 */
static void calls_that_wait_in_idle_are_a_process(void)
{
	struct capture c;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_SWTCH}, {5, TAG_B}, {8, TAG_SWTCH}, {10, EXIT(TAG_SWTCH)},
	    {12, EXIT(TAG_B)});
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > swtch 1 @1\n"
	            "p1 out @1\n"
	            "> b 0 @5\n"
	            "p2 > swtch 1 @8\n"
	            "p2 out @8\n"
	            "p2 in @10\n"
	            "p2 < swtch 1 @10 net 0 total 0 wall 2\n"
	            "p2 < b 0 @12 net 5 total 5 wall 7\n"
	            "p1 o swtch 1 @12 net 0 total 0 wall 11\n"
	            "p1 o a 0 @12 net 1 total 1 wall 12\n");
	capture_done(&c);
}

static void an_interrupt_without_exit_ends_with_idle(void)
{
	struct capture c;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_SWTCH}, {5, TAG_B}, {8, EXIT(TAG_SWTCH)}, {9, EXIT(TAG_A)});
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > swtch 1 @1\n"
	            "p1 out @1\n"
	            "> b 0 @5\n"
	            "x b 0 @8 net 3 total 3 ?\n"
	            "p1 in @8\n"
	            "p1 < swtch 1 @8 net 0 total 0 wall 7\n"
	            "p1 < a 0 @9 net 2 total 2 wall 9\n");
	capture_done(&c);
}

static void a_stream_may_begin_in_idle(void)
{
	struct capture c;
	struct tag_run *r;

	begin(&c, true);
	PUT(&c, {0, TAG_PLACE}, {5, TAG_C}, {8, EXIT(TAG_C)}, {20, EXIT(TAG_SWTCH)},
	    {21, EXIT(TAG_A)}, {30, EXIT(TAG_SWTCH)});
	check_steps(&c, false,
	            "p1 = place 0 @0\n"
	            "p1 > c 0 @5\n"
	            "p1 < c 0 @8 net 3 total 3\n"
	            "p1 in @20\n"
	            "p1 ! swtch 0 @20\n"
	            "p1 ! a 0 @21\n"
	            "p1 ! swtch 0 @30\n");
	r = run_of(&c);
	tag_run_end(r);
	CHECK_EQ(r->idle, 17);
	CHECK_EQ(r->outside, 10);
	tag_run_free(r);
	capture_done(&c);
}

static void a_question_has_an_end(void)
{
	struct capture c;
	struct capture_steps steps = {0};
	uint64_t t = 100;

	two_wait_alike(&c);
	capture_packet(&c, t);
	for (uint32_t i = 0; i < TAG_ENGINE_ASKS / 2; i++) {
		capture_event(&c, t++, TAG_A);
		capture_event(&c, t++, EXIT(TAG_A));
	}
	capture_event(&c, t, EXIT(TAG_C)); /* too late for an answer */
	capture_run(&c, 0, false, &steps, &damage);
	CHECK_EQ(damage.guesses, 1);
	CHECK_EQ((vec_last(&steps.told) - 2)->kind, TAG_STEP_CLOSED);
	vec_done(&steps.told);
	steps = (struct capture_steps){0};
	vec_last(&vec_last(&c.streams)->packets)->words.count -= 3;
	capture_event(&c, t, EXIT(TAG_C));
	capture_event(&c, t, EXIT(TAG_B));
	capture_event(&c, t, EXIT(TAG_D)); /* the third exit is the event too many */
	capture_run(&c, 0, false, &steps, &damage);
	CHECK_EQ(damage.guesses, 1);
	vec_done(&steps.told);
	capture_done(&c);
}

/* Too many waiting processes: the one that waits longest is regarded as ended. */
static void processes_that_wait_are_bounded(void)
{
	struct capture c;
	struct tag_run *r;
	uint64_t t = 0;

	begin(&c, true);
	capture_packet(&c, 0);
	for (uint32_t i = 0; i <= TAG_ENGINE_WAITING; i++) {
		/* Each is new: no process waits at a place as unknown as that of the first exit. */
		capture_event(&c, t++, TAG_A);
		capture_event(&c, t++, TAG_SWTCH);
		capture_event(&c, t++, EXIT(TAG_SWTCH));
		capture_event(&c, t++, EXIT(TAG_B));
	}
	r = run_of(&c);
	CHECK_EQ(r->waiting.count, TAG_ENGINE_WAITING);
	CHECK_EQ(r->processes, TAG_ENGINE_WAITING + 2);
	tag_run_end(r);
	CHECK_EQ(r->damage.guesses, 0);
	tag_run_free(r);
	capture_done(&c);
}

/* a calls b, which is interrupted for 6 ticks; then a halts from 20 to 40, with an interrupt. */
static void idle_functions_and_interrupts_are_in_no_call_around_them(void)
{
	struct capture c;
	struct tag_run *r;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_B}, {2, TAG_TIMER}, {3, TAG_D}, {5, EXIT(TAG_D)},
	    {8, EXIT(TAG_TIMER)}, {10, EXIT(TAG_B)}, {20, TAG_IDLES}, {30, TAG_TIMER},
	    {34, EXIT(TAG_TIMER)}, {40, EXIT(TAG_IDLES)}, {41, EXIT(TAG_A)});
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > b 1 @1\n"
	            "p1 > timer 2 @2\n"
	            "p1 > d 3 @3\n"
	            "p1 < d 3 @5 net 2 total 2\n"
	            "p1 < timer 2 @8 net 4 total 6\n"
	            "p1 < b 1 @10 net 3 total 3 wall 9\n"
	            "p1 > idles 1 @20\n"
	            "p1 > timer 2 @30\n"
	            "p1 < timer 2 @34 net 4 total 4\n"
	            "p1 < idles 1 @40 net 0 total 0 wall 20\n"
	            "p1 < a 0 @41 net 12 total 15 wall 41\n");
	r = run_of(&c);
	tag_run_end(r);
	CHECK_EQ(r->idle, 16);
	CHECK_EQ(r->outside, 0);
	CHECK_EQ(r->last - r->first, 16 + 12 + 3 + 6 + 4);
	tag_run_free(r);
	capture_done(&c);
}

/* In the stream of a thread both are ordinary functions. */
static void threads_have_no_idle_functions_or_interrupts(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {2, TAG_TIMER}, {5, TAG_IDLES}, {8, EXIT(TAG_IDLES)},
	    {9, EXIT(TAG_TIMER)}, {10, EXIT(TAG_A)});
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> timer 1 @2\n"
	            "> idles 2 @5\n"
	            "< idles 2 @8 net 3 total 3\n"
	            "< timer 1 @9 net 4 total 7\n"
	            "< a 0 @10 net 3 total 10\n");
	capture_done(&c);
}

static void put_process(struct capture *c, uint64_t time, uint8_t from, uint8_t to)
{
	const uint8_t bytes[] = {from, 0, 0, 0, to, 0, 0, 0, 's', 'h', 0};

	for (size_t i = 0; i < sizeof(bytes); i++)
		capture_event(c, time, ASSAY_TAG_PROCESS | bytes[i]);
}

/*
 * Processes 7 and 9 wait alike, and 9 continues although 7 has waited longer. 7 ended; a new
 * process 8 begins in swtch.
 */
static void a_recorded_number_identifies_the_process(void)
{
	struct capture c;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_SWTCH});
	put_process(&c, 2, 7, 9);
	capture_event(&c, 3, EXIT(TAG_SWTCH));
	capture_event(&c, 4, TAG_A);
	capture_event(&c, 5, TAG_SWTCH);
	put_process(&c, 6, 9, 8);
	capture_event(&c, 7, EXIT(TAG_SWTCH));
	capture_event(&c, 8, TAG_B);
	capture_event(&c, 9, TAG_SWTCH);
	put_process(&c, 10, 8, 9);
	capture_event(&c, 11, EXIT(TAG_SWTCH));
	capture_event(&c, 12, EXIT(TAG_A));
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > swtch 1 @1\n"
	            "p1 out @1\n"
	            "p2 in @3\n"
	            "p2 > a 0 @4\n"
	            "p2 > swtch 1 @5\n"
	            "p2 out @5\n"
	            "p3 in @7\n"
	            "p3 > b 0 @8\n"
	            "p3 > swtch 1 @9\n"
	            "p3 out @9\n"
	            "p2 in @11\n"
	            "p2 < swtch 1 @11 net 0 total 0 wall 6\n"
	            "p2 < a 0 @12 net 2 total 2 wall 8\n"
	            "p1 o swtch 1 @12 net 0 total 0 wall 11\n"
	            "p1 o a 0 @12 net 1 total 1 wall 12\n"
	            "p3 o swtch 1 @12 net 0 total 0 wall 3\n"
	            "p3 o b 0 @12 net 1 total 1 wall 4\n");
	CHECK_EQ(damage.guesses, 0);
	CHECK_EQ(damage.unmatched_exits, 0);
	CHECK_EQ(damage.inherited_exits, 2);
	CHECK_EQ(damage.unknown_tags, 0);
	capture_done(&c);
}

/* A program with tags: the functions that were open at the fork return in the child, too. */
static void a_forked_process_returns_from_functions_of_its_parent(void)
{
	struct capture c;

	begin(&c, true);
	PUT(&c, {0, TAG_A}, {1, TAG_B}, {2, TAG_SWTCH});
	put_process(&c, 3, 7, 9);
	PUT(&c, {4, EXIT(TAG_SWTCH)}, {5, EXIT(TAG_B)}, {6, TAG_B}, {7, EXIT(TAG_A)},
	    {8, EXIT(TAG_B)}, {9, EXIT(TAG_A)});
	check_steps(&c, false,
	            "p1 > a 0 @0\n"
	            "p1 > b 1 @1\n"
	            "p1 > swtch 2 @2\n"
	            "p1 out @2\n"
	            "p2 in @4\n"
	            "p2 ! b 0 @5\n"
	            "p2 > b 0 @6\n"
	            "p2 ! a 1 @7\n"
	            "p2 < b 0 @8 net 2 total 2 ?\n"
	            "p2 ! a 0 @9\n"
	            "p1 o swtch 2 @9 net 0 total 0 wall 7\n"
	            "p1 o b 1 @9 net 1 total 1 wall 8\n"
	            "p1 o a 0 @9 net 1 total 2 wall 9\n");
	CHECK_EQ(damage.inherited_exits, 3);
	/* A call of the child is open at 7, so that exit is no function of the parent. */
	CHECK_EQ(damage.unmatched_exits, 1);
	capture_done(&c);
}

int main(void)
{
	RUN(a_forked_process_returns_from_functions_of_its_parent);
	RUN(a_recorded_number_identifies_the_process);
	RUN(idle_functions_and_interrupts_are_in_no_call_around_them);
	RUN(threads_have_no_idle_functions_or_interrupts);
	RUN(idle_time_has_no_process_except_interrupts_in_it);
	RUN(the_first_exit_identifies_the_process);
	RUN(the_third_exit_may_identify_the_process);
	RUN(an_unidentified_process_is_guessed);
	RUN(an_exit_that_fits_none_ends_the_question);
	RUN(no_exit_and_one_that_waits_is_no_guess);
	RUN(switch_functions_may_call_each_other);
	RUN(calls_that_wait_in_idle_are_a_process);
	RUN(an_interrupt_without_exit_ends_with_idle);
	RUN(a_stream_may_begin_in_idle);
	RUN(a_question_has_an_end);
	RUN(processes_that_wait_are_bounded);
	return check_end();
}
