/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each rule of trace/tag_engine.h on a capture written by hand, with the figures that
 * follow from it. Steps are compared as text, a line a step:
 *
 *	> a 0 @10		entered at depth 0, at 10
 *	< a 0 @25 net 9 total 15	left; "wall W" if that is not the total, "?" if uncertain
 *	x, o			closed unseen, open
 *	! unmatched, = inline, out, in, gap, thread
 *
 * with "pN " before it where a process runs.
 */
#include "base/buf.h"
#include "check.h"
#include "tag_capture_fixture.h"
#include "trace/tag_engine_run.h"

#include <inttypes.h>

static const char *name_of(const struct capture *c, uint32_t tag)
{
	bool exit;
	const struct tag_name *name = tag_names_find(c->names, tag, &exit);

	return name ? name->name : "unknown";
}

static void step_text(struct buf *b, const struct capture *c, const struct tag_step *s)
{
	static const char *const signs[] = {
	        [TAG_STEP_ENTER] = ">",  [TAG_STEP_EXIT] = "<",         [TAG_STEP_UNMATCHED] = "!",
	        [TAG_STEP_INLINE] = "=", [TAG_STEP_SWITCH_OUT] = "out", [TAG_STEP_SWITCH_IN] = "in",
	        [TAG_STEP_GAP] = "gap",  [TAG_STEP_THREAD] = "thread",
	};
	bool closed = s->kind == TAG_STEP_CLOSED;

	if (s->process)
		buf_addf(b, "p%u ", s->process);
	buf_puts(b, !closed ? signs[s->kind] : s->how == TAG_CLOSED_OPEN ? "o" : "x");
	if (s->kind <= TAG_STEP_INLINE)
		buf_addf(b, " %s %u", name_of(c, s->tag), s->depth);
	buf_addf(b, " @%" PRIu64, s->time);
	if (s->kind == TAG_STEP_EXIT || closed)
		buf_addf(b, " net %" PRIu64 " total %" PRIu64, s->net, s->total);
	if ((s->kind == TAG_STEP_EXIT || closed) && s->wall != s->total)
		buf_addf(b, " wall %" PRIu64, s->wall);
	if (s->kind == TAG_STEP_GAP)
		buf_addf(b, " lost %" PRIu64, s->lost);
	if (s->kind == TAG_STEP_THREAD)
		buf_addf(b, " %d/%d", s->pid, s->tid);
	buf_puts(b, s->preempted ? " preempted" : "");
	buf_puts(b, s->uncertain ? " ?\n" : "\n");
}

static struct tag_damage damage;

static void check_steps(struct capture *c, bool wall, const char *want)
{
	struct capture_steps steps = {0};
	struct buf b = {0};

	capture_run(c, 0, wall, &steps, &damage);
	vec_each (s, &steps.told)
		step_text(&b, c, s);
	CHECK_STR(buf_text(&b), want);
	buf_done(&b);
	vec_done(&steps.told);
}

/* The sums of a stream of one packet, before its end. */
static struct tag_run *run_of(struct capture *c)
{
	struct tag_run *r = tag_run_new(&c->recording.streams.items[0], false, NULL, NULL, NULL);
	struct capture_packet *p = &c->streams.items[0].packets.items[0];

	p->packet.words = p->words.items;
	p->packet.count = p->words.count;
	tag_run_packet(r, &p->packet);
	return r;
}

/* Events of one stream, a packet that begins with the first. */
struct moment {
	uint64_t time;
	uint32_t tag;
};

static void begin(struct capture *c, bool device)
{
	capture_init(c);
	capture_stream(c, device, 5, 5);
}

static void put(struct capture *c, const struct moment *m, size_t count)
{
	capture_packet(c, m->time);
	for (size_t i = 0; i < count; i++)
		capture_event(c, m[i].time, m[i].tag);
}

#define PUT(c, ...)                                                                                \
	put(c, (struct moment[]){__VA_ARGS__},                                                     \
	    sizeof((struct moment[]){__VA_ARGS__}) / sizeof(struct moment))

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

static void a_missing_exit_closes_what_is_above(void)
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
	            "gap @1000 lost 3\n"
	            "< b 1 @1000 net 0 total 0 wall 990 ?\n"
	            "> b 1 @1001\n"
	            "< b 1 @1003 net 2 total 2\n"
	            "< a 0 @1004 net 12 total 14 wall 1004 ?\n");
	CHECK_EQ(damage.gaps, 1);
	CHECK_EQ(damage.lost, 3);
	capture_done(&c);
}

static void the_clock_goes_round(void)
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

static void another_thread_ends_what_is_open(void)
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

static void what_is_open_at_the_end_is_said(void)
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

/* A process waits, an interrupt comes in idle, and the process goes on. */
static void idle_is_no_ones_but_the_interrupts(void)
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

/* Process 1 waits in a, 2 in b; told by the first exit, after calls of its own. */
static void the_first_exit_tells_who_goes_on(void)
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

/* Two that wait in c, called by b, called by a or d: the third exit tells. */
static void two_wait_alike(struct capture *c)
{
	begin(c, true);
	PUT(c, {0, TAG_A}, {1, TAG_B}, {2, TAG_C}, {3, TAG_SWTCH}, {4, EXIT(TAG_SWTCH)},
	    {5, EXIT(TAG_PLACE)}, {6, TAG_D}, {7, TAG_B}, {8, TAG_C}, {9, TAG_SWTCH},
	    {10, EXIT(TAG_SWTCH)});
}

static void the_third_exit_may_tell(void)
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

static void who_is_not_told_is_guessed(void)
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

/* A fork's child begins without an exit of `!`: it is one when it waits. */
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

/* Too many that wait: the one that waits longest has ended. */
static void processes_that_wait_are_bounded(void)
{
	struct capture c;
	struct tag_run *r;
	uint64_t t = 0;

	begin(&c, true);
	capture_packet(&c, 0);
	for (uint32_t i = 0; i <= TAG_ENGINE_WAITING; i++) {
		/* Each is new: no one waits in a place as unknown as the first exit. */
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
	RUN(a_missing_exit_closes_what_is_above);
	RUN(an_exit_closes_the_innermost_of_its_function);
	RUN(an_unmatched_exit_changes_nothing_but_trust);
	RUN(a_gap_is_in_no_call);
	RUN(the_clock_goes_round);
	RUN(a_packet_that_begins_too_early_makes_time_stand);
	RUN(the_devices_own_time_is_in_no_call);
	RUN(time_switched_out_is_left_out);
	RUN(another_thread_ends_what_is_open);
	RUN(unknown_tags_are_calls);
	RUN(words_of_zero_are_none);
	RUN(what_is_open_at_the_end_is_said);
	RUN(idle_is_no_ones_but_the_interrupts);
	RUN(the_first_exit_tells_who_goes_on);
	RUN(the_third_exit_may_tell);
	RUN(who_is_not_told_is_guessed);
	RUN(an_exit_that_fits_none_ends_the_question);
	RUN(no_exit_and_one_that_waits_is_no_guess);
	RUN(switch_functions_may_call_each_other);
	RUN(calls_that_wait_in_idle_are_a_process);
	RUN(an_interrupt_without_exit_ends_with_idle);
	RUN(a_stream_may_begin_in_idle);
	RUN(a_question_has_an_end);
	RUN(processes_that_wait_are_bounded);
	RUN(a_stack_is_bounded);
	return check_end();
}
