/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each rule of tags/tag_engine.h on a capture written by hand, with the figures that
 * follow from it. Those of devices: test_tag_engine_device.c.
 */
#include "tag_steps_fixture.h"

static void calls_nest(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {10, TAG_A}, {12, TAG_B}, {15, EXIT(TAG_B)}, {16, TAG_B}, {20, TAG_PLACE},
	    {22, EXIT(TAG_B)}, {25, EXIT(TAG_A)});
	check_steps(&c, false,
	            "> a 0 @10\n"
	            "> b 1 @12\n"
	            "< b 1 @15 net 3 total 3\n"
	            "> b 1 @16\n"
	            "= place 2 @20\n"
	            "< b 1 @22 net 6 total 6\n"
	            "< a 0 @25 net 6 total 15\n");
	capture_done(&c);
}

static void a_missing_exit_closes_the_calls_above(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {1, TAG_B}, {3, TAG_C}, {7, TAG_D}, {9, EXIT(TAG_B)},
	    {10, EXIT(TAG_A)});
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> b 1 @1\n"
	            "> c 2 @3\n"
	            "> d 3 @7\n"
	            "x d 3 @9 net 2 total 2 ?\n"
	            "x c 2 @9 net 4 total 6 ?\n"
	            "< b 1 @9 net 2 total 8 ?\n"
	            "< a 0 @10 net 2 total 10\n");
	CHECK_EQ(damage.missing_exits, 2);
	capture_done(&c);
}

static void an_exit_closes_the_innermost_of_its_function(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {1, TAG_A}, {2, TAG_B}, {3, EXIT(TAG_A)}, {4, EXIT(TAG_A)});
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> a 1 @1\n"
	            "> b 2 @2\n"
	            "x b 2 @3 net 1 total 1 ?\n"
	            "< a 1 @3 net 1 total 2 ?\n"
	            "< a 0 @4 net 2 total 4\n");
	capture_done(&c);
}

static void an_unmatched_exit_changes_nothing_but_trust(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {0, EXIT(TAG_C)}, {1, TAG_A}, {2, EXIT(TAG_B)}, {5, EXIT(TAG_A)});
	check_steps(&c, false,
	            "! c 0 @0\n"
	            "> a 0 @1\n"
	            "! b 1 @2\n"
	            "< a 0 @5 net 4 total 4 ?\n");
	CHECK_EQ(damage.unmatched_exits, 2);
	capture_done(&c);
}

/* Only exits without an open call, of a thread that began so, and before a gap. */
static void a_forks_child_has_exits_of_calls_that_it_did_not_make(void)
{
	struct capture c;
	struct tag_packet *p;

	begin(&c, false);
	PUT(&c, {0, EXIT(TAG_A)});
	p = capture_packet(&c, 10);
	p->pid = p->tid = 77;
	p->forked = true;
	PUT(&c, {10, EXIT(TAG_A)}, {11, TAG_B}, {12, EXIT(TAG_A)}, {13, EXIT(TAG_B)},
	    {14, EXIT(TAG_C)});
	p = capture_packet(&c, 20);
	PUT(&c, {20, EXIT(TAG_D)});
	p = capture_packet(&c, 30);
	p->gap = true;
	PUT(&c, {30, EXIT(TAG_A)});
	p = capture_packet(&c, 40);
	p->pid = p->tid = 78;
	PUT(&c, {40, EXIT(TAG_A)});
	check_steps(&c, false,
	            "! a 0 @0\n"
	            "thread @10 77/77\n"
	            "! a 0 @10\n"
	            "> b 0 @11\n"
	            "! a 1 @12\n"
	            "< b 0 @13 net 2 total 2 ?\n"
	            "! c 0 @14\n"
	            "! d 0 @20\n"
	            "gap @30 lost 0\n"
	            "! a 0 @30\n"
	            "thread @40 78/78\n"
	            "! a 0 @40\n");
	CHECK_EQ(damage.inherited_exits, 3);
	CHECK_EQ(damage.unmatched_exits, 4);
	capture_done(&c);
}

static void a_gap_is_in_no_call(void)
{
	struct capture c;
	struct tag_packet *p;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {10, TAG_B});
	p = capture_packet(&c, 1000);
	p->gap = true;
	p->lost = 3;
	capture_event(&c, 1000, EXIT(TAG_B));
	capture_event(&c, 1001, TAG_B);
	capture_event(&c, 1003, EXIT(TAG_B));
	capture_event(&c, 1004, EXIT(TAG_A));
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> b 1 @10\n"
	            "cut b 1 @10 net 0 total 0 ?\n"
	            "cut a 0 @10 net 10 total 10 ?\n"
	            "gap @1000 lost 3\n"
	            "! b 0 @1000\n"
	            "> b 0 @1001\n"
	            "< b 0 @1003 net 2 total 2\n"
	            "! a 0 @1004 net 2\n");
	CHECK_EQ(damage.gaps, 1);
	CHECK_EQ(damage.lost, 3);
	capture_done(&c);
}

/* The kernel's switches do not show what the thread executes: they do not end a gap. */
static void switches_do_not_end_a_gap(void)
{
	struct capture c;
	struct tag_packet *p;
	struct tag_summary *s = tag_summary_new(NULL);

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {10, TAG_B});
	p = capture_packet(&c, 100);
	p->lost = 3;
	capture_event(&c, 100, ASSAY_TAG_SWITCH_PREEMPTED);
	capture_event(&c, 130, ASSAY_TAG_SWITCH_IN);
	capture_event(&c, 200, ASSAY_TAG_SWITCH_BLOCKED);
	capture_event(&c, 250, ASSAY_TAG_SWITCH_IN);
	capture_event(&c, 300, ASSAY_TAG_OWN);
	capture_event(&c, 310, TAG_B);
	capture_event(&c, 311, EXIT(TAG_B));
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> b 1 @10\n"
	            "cut b 1 @10 net 0 total 0 ?\n"
	            "cut a 0 @10 net 10 total 10 ?\n"
	            "gap @100 lost 3\n"
	            "out @100 preempted\n"
	            "in @130\n"
	            "out @200\n"
	            "in @250\n"
	            "> b 0 @310\n"
	            "< b 0 @311 net 1 total 1\n");
	CHECK_EQ(tag_summary_recording(s, &c.recording, NULL), 0);
	tag_summary_finish(s);
	CHECK_EQ(s->elapsed, 311);
	CHECK_EQ(s->idle, 80);
	CHECK_EQ(s->gap, 300 - 80);
	CHECK_EQ(s->own, 0);
	CHECK_EQ(capture_booked(s), s->elapsed);
	tag_summary_free(s);
	capture_done(&c);
}

/*
 * Time outside of the calls that begin after a gap belongs to the function whose exit comes, and to
 * none if no exit comes before the next gap.
 */
static void an_exit_after_a_gap_shows_what_ran(void)
{
	struct capture c;
	struct tag_packet *p;
	struct tag_summary *s = tag_summary_new(NULL);

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {10, TAG_B});
	p = capture_packet(&c, 100);
	p->gap = true;
	PUT(&c, {100, TAG_C}, {110, EXIT(TAG_C)}, {130, TAG_C}, {135, EXIT(TAG_C)});
	p = capture_packet(&c, 200);
	p->gap = true;
	PUT(&c, {200, TAG_C}, {210, TAG_C}, {215, EXIT(TAG_B)}, {250, EXIT(TAG_A)}, {257, TAG_C});
	CHECK_EQ(tag_summary_recording(s, &c.recording, NULL), 0);
	tag_summary_finish(s);
	CHECK_EQ(s->functions.count, 3);
	CHECK_EQ(s->unknown, 20 + 7);
	CHECK_EQ(s->gap, 90 + 65);
	CHECK_EQ(s->damage.missing_exits, 2);
	vec_each (f, &s->functions) {
		CHECK_EQ(f->net, f->tag == TAG_A ? 10 + 35 : f->tag == TAG_B ? 0 : 30);
		CHECK_EQ(f->cut, f->tag != TAG_C);
		CHECK_EQ(f->certain.calls, f->tag == TAG_C ? 2 : 0);
	}
	CHECK_EQ(capture_booked(s), s->elapsed);
	tag_summary_free(s);
	capture_done(&c);
}

static void the_clock_wraps(void)
{
	struct capture c;
	uint64_t turn = ASSAY_TAGS_CLOCK_MASK + 1;

	begin(&c, false);
	PUT(&c, {turn - 5, TAG_A}, {turn + 5, TAG_B}, {turn * 2 + 4, EXIT(TAG_B)},
	    {turn * 2 + 5, EXIT(TAG_A)});
	check_steps(&c, false,
	            "> a 0 @1099511627771\n"
	            "> b 1 @1099511627781\n"
	            "< b 1 @2199023255556 net 1099511627775 total 1099511627775\n"
	            "< a 0 @2199023255557 net 11 total 1099511627786\n");
	capture_done(&c);
}

static void a_packet_that_begins_too_early_makes_time_stand(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {100, TAG_B});
	PUT(&c, {90, EXIT(TAG_B)}, {99, TAG_B}, {103, EXIT(TAG_B)}, {104, EXIT(TAG_A)});
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> b 1 @100\n"
	            "< b 1 @100 net 0 total 0\n"
	            "> b 1 @100\n"
	            "< b 1 @103 net 3 total 3\n"
	            "< a 0 @104 net 101 total 104\n");
	CHECK_EQ(damage.backwards, 1);
	capture_done(&c);
}

static const struct moment devices_own[] = {
        {0, TAG_A},
        {10, TAG_B},
        {15, ASSAY_TAG_SWITCH_PREEMPTED},
        {22, ASSAY_TAG_SWITCH_IN},
        {30, ASSAY_TAG_OWN}, /* 13 of it */
        {35, EXIT(TAG_B)},
        {36, ASSAY_TAG_SWITCH_BLOCKED},
        {50, ASSAY_TAG_OWN}, /* 1 of it; the rest is idle */
        {52, ASSAY_TAG_SWITCH_IN},
        {60, EXIT(TAG_A)},
};

static void the_devices_own_time_is_in_no_call(void)
{
	struct capture c;

	begin(&c, false);
	put(&c, devices_own, 10);
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> b 1 @10\n"
	            "out @15 preempted\n"
	            "in @22\n"
	            "< b 1 @35 net 5 total 5 wall 25\n"
	            "out @36\n"
	            "in @52\n"
	            "< a 0 @60 net 18 total 23 wall 60\n");
	capture_done(&c);
}

static const struct moment switched[] = {
        {0, TAG_A},
        {10, ASSAY_TAG_SWITCH_BLOCKED},
        {50, ASSAY_TAG_SWITCH_IN},
        {51, TAG_B},
        {52, ASSAY_TAG_SWITCH_PREEMPTED},
        {60, EXIT(TAG_B)}, /* an event of its own puts it in */
        {61, EXIT(TAG_A)},
};

static void time_switched_out_is_left_out(void)
{
	struct capture c;

	begin(&c, false);
	put(&c, switched, 7);
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "out @10\n"
	            "in @50\n"
	            "> b 1 @51\n"
	            "out @52 preempted\n"
	            "in @60\n"
	            "< b 1 @60 net 1 total 1 wall 9\n"
	            "< a 0 @61 net 12 total 13 wall 61\n");
	check_steps(&c, true,
	            "> a 0 @0\n"
	            "out @10\n"
	            "in @50\n"
	            "> b 1 @51\n"
	            "out @52 preempted\n"
	            "in @60\n"
	            "< b 1 @60 net 9 total 9\n"
	            "< a 0 @61 net 52 total 61\n");
	capture_done(&c);
}

static void another_thread_ends_the_open_calls(void)
{
	struct capture c;
	struct tag_packet *p;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {10, TAG_PLACE});
	p = capture_packet(&c, 500);
	p->tid = 6;
	capture_event(&c, 500, EXIT(TAG_A));
	capture_event(&c, 501, TAG_B);
	capture_event(&c, 503, EXIT(TAG_B));
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "= place 1 @10\n"
	            "o a 0 @10 net 10 total 10\n"
	            "thread @500 5/6\n"
	            "! a 0 @500\n"
	            "> b 0 @501\n"
	            "< b 0 @503 net 2 total 2\n");
	capture_done(&c);
}

static void unknown_tags_are_calls(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {0, TAG_UNKNOWN}, {1, TAG_ODD_PLACE - 1}, {2, TAG_ODD_PLACE},
	    {3, EXIT(TAG_UNKNOWN)}, {4, TAG_PLACE + 1}, {5, ASSAY_TAG_RESERVED});
	check_steps(&c, false,
	            "> unknown 0 @0\n"
	            "> unknown 1 @1\n"
	            "= odd_place 2 @2\n"
	            "x unknown 1 @3 net 2 total 2 ?\n"
	            "< unknown 0 @3 net 1 total 3 ?\n"
	            "! place 0 @4\n");
	CHECK_EQ(damage.unknown_tags, 5);
	capture_done(&c);
}

static void words_of_zero_are_none(void)
{
	struct capture c;

	begin(&c, false);
	capture_packet(&c, 0);
	capture_word(&c, 0);
	capture_event(&c, 5, 0); /* tag 0 is unknown, but an event */
	capture_word(&c, 0);
	capture_event(&c, 7, 1);
	capture_word(&c, 0);
	check_steps(&c, false,
	            "> unknown 0 @5\n"
	            "< unknown 0 @7 net 2 total 2\n");
	capture_done(&c);
}

static void open_calls_at_the_end_are_reported(void)
{
	struct capture c;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {4, TAG_B}, {9, TAG_PLACE});
	check_steps(&c, false,
	            "> a 0 @0\n"
	            "> b 1 @4\n"
	            "= place 2 @9\n"
	            "o b 1 @9 net 5 total 5\n"
	            "o a 0 @9 net 4 total 9\n");
	capture_done(&c);
}

/* A process waits, an interrupt occurs in idle, and the process continues. */

static void a_stack_is_bounded(void)
{
	struct capture c;
	struct tag_run *r;

	begin(&c, false);
	PUT(&c, {0, TAG_A}, {1, TAG_B}, {3, TAG_B}, {7, TAG_A}, {8, TAG_B}, {9, EXIT(TAG_B)});
	r = tag_run_new(&c.recording.streams.items[0], false, NULL, NULL, NULL);
	struct capture_packet *p = &c.streams.items[0].packets.items[0];

	r->deepest = 3;
	r->stack->room = 4; /* less than what is there */
	p->packet.words = p->words.items;
	p->packet.count = p->words.count;
	tag_run_packet(r, &p->packet);
	CHECK_EQ(r->stack->top, 1);
	tag_run_end(r);
	CHECK_EQ(r->damage.missing_exits, 3);
	CHECK_EQ(r->elapsed, 9);
	CHECK_EQ(r->outside, 0);
	tag_run_free(r);
	capture_done(&c);
}

int main(void)
{
	RUN(calls_nest);
	RUN(a_missing_exit_closes_the_calls_above);
	RUN(an_exit_closes_the_innermost_of_its_function);
	RUN(an_unmatched_exit_changes_nothing_but_trust);
	RUN(a_forks_child_has_exits_of_calls_that_it_did_not_make);
	RUN(a_gap_is_in_no_call);
	RUN(switches_do_not_end_a_gap);
	RUN(an_exit_after_a_gap_shows_what_ran);
	RUN(the_clock_wraps);
	RUN(a_packet_that_begins_too_early_makes_time_stand);
	RUN(the_devices_own_time_is_in_no_call);
	RUN(time_switched_out_is_left_out);
	RUN(another_thread_ends_the_open_calls);
	RUN(unknown_tags_are_calls);
	RUN(words_of_zero_are_none);
	RUN(open_calls_at_the_end_are_reported);
	RUN(a_stack_is_bounded);
	return check_end();
}
