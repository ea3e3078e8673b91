/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code path: its lines, their order, and their times. */
#include "check.h"
#include "tag_trace_lines.h"

static void entries_have_net_and_total_and_lines_nest(void)
{
	struct memory m;

	small(&m);
	check_text(&m, all(),
	           "   0.000 000 000  -> main (0.300 us, 1.000 us)\n"
	           "   0.000 000 100    -> f (0.250 us, 0.300 us)\n"
	           "   0.000 000 200      -> g (0.050 us, 0.050 us)\n"
	           "   0.000 000 230        == mark\n"
	           "   0.000 000 250      <- g\n"
	           "   0.000 000 400    <- f\n"
	           "   0.000 000 500    -> f (0.400 us, 0.400 us)\n"
	           "   0.000 000 900    <- f\n"
	           "   0.000 001 000  <- main\n");
	memory_done(&m);
}

static void a_clock_of_microseconds_has_no_nanoseconds(void)
{
	struct memory m;

	memory_init(&m, 1000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_play(&m, 0, "10 >main 20 >f 36 <f 1044 <main 3000010 >g 5000010 <g");
	check_text(&m, all(),
	           "   0.000 000  -> main (1018 us, 1034 us)\n"
	           "   0.000 010    -> f (16 us, 16 us)\n"
	           "   0.000 026    <- f\n"
	           "   0.001 034  <- main\n"
	           "   3.000 000  -> g (2.000000 s, 2.000000 s)\n"
	           "   5.000 000  <- g\n");
	memory_done(&m);
}

static void time_switched_out_is_left_out_unless_wall(void)
{
	struct tag_trace_options wall = all();
	struct memory m;

	memory_init(&m, 1000000000);
	m.r.switches = true;
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_play(&m, 0, "0 >main 100 >f 200 ~b 1200 ~i 1300 <f 1400 ~p 1450 ~i 1500 <main");
	check_text(&m, all(),
	           "   0.000 000 000  -> main (0.250 us, 0.450 us)\n"
	           "   0.000 000 100    -> f (0.200 us, 0.200 us)\n"
	           "   0.000 000 200  ---- Context switch out ---- blocked\n"
	           "   0.000 001 200  ---- Context switch in ---- out 1.000 us\n"
	           "   0.000 001 300    <- f\n"
	           "   0.000 001 400  ---- Context switch out ---- preempted\n"
	           "   0.000 001 450  ---- Context switch in ---- out 0.050 us\n"
	           "   0.000 001 500  <- main\n");
	wall.wall = true;
	wall.depth = 2;
	check_text(&m, wall,
	           "   0.000 000 000  -> main (0.300 us, 1.500 us)\n"
	           "   0.000 000 100    -> f (1.200 us, 1.200 us)\n"
	           "   0.000 000 200  ---- Context switch out ---- blocked\n"
	           "   0.000 001 200  ---- Context switch in ---- out 1.000 us\n"
	           "   0.000 001 300    <- f\n"
	           "   0.000 001 400  ---- Context switch out ---- preempted\n"
	           "   0.000 001 450  ---- Context switch in ---- out 0.050 us\n"
	           "   0.000 001 500  <- main\n");
	memory_done(&m);
}

static void from_and_to_are_times_calls_and_marks(void)
{
	struct tag_trace_options o = all();
	struct memory m;

	small(&m);
	o.from = point("230ns");
	o.to = point("0.5us");
	check_text(&m, o,
	           "   0.000 000 000  .. main\n"
	           "   0.000 000 100    .. f\n"
	           "   0.000 000 200      .. g\n"
	           "   0.000 000 230        == mark\n"
	           "   0.000 000 250      <- g (0.050 us, 0.050 us)\n"
	           "   0.000 000 400    <- f (0.250 us, 0.300 us)\n"
	           "   0.000 000 500    -> f (0.400 us, 0.400 us)\n");
	o.from = point("f#2");
	o.to = point("f#2");
	check_text(&m, o,
	           "   0.000 000 000  .. main\n"
	           "   0.000 000 500    -> f (0.400 us, 0.400 us)\n"
	           "   0.000 000 900    <- f\n");
	o.from = point("mark");
	o.to = point("g");
	check_text(&m, o,
	           "   0.000 000 000  .. main\n"
	           "   0.000 000 100    .. f\n"
	           "   0.000 000 200      .. g\n"
	           "   0.000 000 230        == mark\n"
	           "   0.000 000 250      <- g (0.050 us, 0.050 us)\n");
	o.from = (struct tag_point){0};
	o.to = point("mark#1");
	check_text(&m, o,
	           "   0.000 000 000  -> main (0.300 us, 1.000 us)\n"
	           "   0.000 000 100    -> f (0.250 us, 0.300 us)\n"
	           "   0.000 000 200      -> g (0.050 us, 0.050 us)\n"
	           "   0.000 000 230        == mark\n");
	memory_done(&m);
}

static void events_that_never_occurred_are_reported(void)
{
	struct tag_trace_options o = all();
	struct tag_trace_result result;
	struct memory m;
	struct buf text;

	small(&m);
	o.from = point("f#3");
	text = text_of(&m, &o, (struct how){0}, &result);
	CHECK_STR(buf_text(&text), "");
	CHECK(!result.from_met && result.to_met);
	CHECK_EQ(result.from_seen, 2);
	buf_done(&text);
	o.from = point("nothing");
	text = text_of(&m, &o, (struct how){0}, &result);
	CHECK(strstr(buf_text(&text), "no function has the name 'nothing'") != NULL);
	buf_done(&text);
	memory_done(&m);
}

static void functions_and_depth_choose(void)
{
	const char *f[] = {"f"}, *bare[] = {"net::input"}, *helper[] = {"helper"},
	           *tag[] = {"tag 900"};
	struct tag_trace_options o = all();
	struct memory m;

	small(&m);
	o.functions = f;
	o.function_count = 1;
	check_text(&m, o,
	           "   0.000 000 100  -> f (0.250 us, 0.300 us)\n"
	           "   0.000 000 200    -> g (0.050 us, 0.050 us)\n"
	           "   0.000 000 230      == mark\n"
	           "   0.000 000 250    <- g\n"
	           "   0.000 000 400  <- f\n"
	           "   0.000 000 500  -> f (0.400 us, 0.400 us)\n"
	           "   0.000 000 900  <- f\n");
	o.depth = 1;
	check_text(&m, o,
	           "   0.000 000 100  -> f (0.250 us, 0.300 us)\n"
	           "   0.000 000 400  <- f\n"
	           "   0.000 000 500  -> f (0.400 us, 0.400 us)\n"
	           "   0.000 000 900  <- f\n");
	o.function_count = 0;
	o.depth = 2;
	check_text(&m, o,
	           "   0.000 000 000  -> main (0.300 us, 1.000 us)\n"
	           "   0.000 000 100    -> f (0.250 us, 0.300 us)\n"
	           "   0.000 000 400    <- f\n"
	           "   0.000 000 500    -> f (0.400 us, 0.400 us)\n"
	           "   0.000 000 900    <- f\n"
	           "   0.000 001 000  <- main\n");
	memory_done(&m);

	memory_init(&m, 1000000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_play(&m, 0,
	            "0 >main 10 >_ZN3net5inputEi 20 <_ZN3net5inputEi 30 >helper@src/a.c 40 "
	            "<helper@src/a.c 50 #900 60 #901 70 <main");
	o = all();
	o.function_count = 1;
	o.functions = bare;
	check_text(&m, o,
	           "   0.000 000 010  -> net::input(int) (0.010 us, 0.010 us)\n"
	           "   0.000 000 020  <- net::input(int)\n"
	           "---- In the part that was read: 2 events of tags without a name ----\n");
	o.functions = helper;
	check_text(&m, o,
	           "   0.000 000 030  -> helper (0.010 us, 0.010 us)\n"
	           "   0.000 000 040  <- helper\n"
	           "---- In the part that was read: 2 events of tags without a name ----\n");
	o.functions = tag;
	check_text(&m, o,
	           "   0.000 000 050  -> tag 900 (0.010 us, 0.010 us)\n"
	           "   0.000 000 060  <- tag 900\n"
	           "---- In the part that was read: 2 events of tags without a name ----\n");
	memory_done(&m);
}

static void a_recursive_call_is_in_the_outer_call(void)
{
	const char *f[] = {"f"};
	struct tag_trace_options o = all();
	struct memory m;

	memory_init(&m, 1000000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_play(&m, 0, "0 >main 10 >f 20 >f 30 <f 40 <f 50 >g 60 <g 70 <main");
	o.functions = f;
	o.function_count = 1;
	check_text(&m, o,
	           "   0.000 000 010  -> f (0.020 us, 0.030 us)\n"
	           "   0.000 000 020    -> f (0.010 us, 0.010 us)\n"
	           "   0.000 000 030    <- f\n"
	           "   0.000 000 040  <- f\n");
	memory_done(&m);
}

static void calls_longer_than_the_window_have_their_times_at_the_exit(void)
{
	struct tag_trace_options o = all();
	struct memory m;

	small(&m);
	o.window = 3;
	check_text(&m, o,
	           "   0.000 000 000  -> main (...)\n"
	           "   0.000 000 100    -> f (...)\n"
	           "   0.000 000 200      -> g (0.050 us, 0.050 us)\n"
	           "   0.000 000 230        == mark\n"
	           "   0.000 000 250      <- g\n"
	           "   0.000 000 400    <- f (0.250 us, 0.300 us)\n"
	           "   0.000 000 500    -> f (0.400 us, 0.400 us)\n"
	           "   0.000 000 900    <- f\n"
	           "   0.000 001 000  <- main (0.300 us, 1.000 us)\n");
	o.window = 0;
	o.depth = 2;
	check_text(&m, o,
	           "   0.000 000 000  -> main (...)\n"
	           "   0.000 000 100    -> f (...)\n"
	           "   0.000 000 400    <- f (0.250 us, 0.300 us)\n"
	           "   0.000 000 500    -> f (...)\n"
	           "   0.000 000 900    <- f (0.400 us, 0.400 us)\n"
	           "   0.000 001 000  <- main (0.300 us, 1.000 us)\n");
	memory_done(&m);
}

/* Two threads of two processes; the third stream begins late. */
static void threads_are_merged_by_time_and_each_line_names_its_own(void)
{
	const char *worker[] = {"worker"}, *other[] = {"other"}, *seven[] = {"7"};
	struct tag_trace_options o = all();
	struct memory m;

	threads(&m);
	check_text(&m, o,
	           "   0.000 000 000  prog/7    -> main (0.300 us, 0.400 us)\n"
	           "   0.000 000 050  worker/8  -> g (0.280 us, 0.330 us)\n"
	           "   0.000 000 200  prog/7      -> f (0.100 us, 0.100 us)\n"
	           "   0.000 000 200  worker/8    -> h (0.050 us, 0.050 us)\n"
	           "   0.000 000 250  worker/8    <- h\n"
	           "   0.000 000 300  prog/7      <- f\n"
	           "   0.000 000 380  worker/8  <- g\n"
	           "   0.000 000 390  other/9   -> f (0.005 us, 0.005 us)\n"
	           "   0.000 000 395  other/9   <- f\n"
	           "   0.000 000 400  prog/7    <- main\n");
	o.threads = worker;
	o.thread_count = 1;
	o.depth = 1;
	check_text(&m, o,
	           "   0.000 000 050  worker/8  -> g (0.280 us, 0.330 us)\n"
	           "   0.000 000 380  worker/8  <- g\n");
	o.thread_count = 0;
	o.processes = other;
	o.process_count = 1;
	check_text(&m, o,
	           "   0.000 000 390  other/9   -> f (0.005 us, 0.005 us)\n"
	           "   0.000 000 395  other/9   <- f\n");
	/* The lines around a time are those of all threads, in the order of time. */
	o.process_count = o.depth = 0;
	o.from = point("h");
	o.to = point("200ns");
	check_text(&m, o,
	           "   0.000 000 000  prog/7    .. main\n"
	           "   0.000 000 050  worker/8  .. g\n"
	           "   0.000 000 200  prog/7      .. f\n"
	           "   0.000 000 200  worker/8    -> h (0.050 us, 0.050 us)\n");
	o.process_count = o.depth = 1;
	o.to = (struct tag_point){0};
	/* Only selected calls are counted. */
	o.from = point("f#1");
	check_text(&m, o,
	           "   0.000 000 390  other/9   -> f (0.005 us, 0.005 us)\n"
	           "   0.000 000 395  other/9   <- f\n");
	o.processes = seven;
	o.from = (struct tag_point){0};
	o.to = point("50ns");
	check_text(&m, o,
	           "   0.000 000 000  prog/7    -> main (0.300 us, 0.400 us)\n"
	           "   0.000 000 050  worker/8  -> g (0.280 us, 0.330 us)\n");
	memory_done(&m);
}

/* A CPU with two processes: the first waits in g; an interrupt comes in idle. */
static void a_devices_processes_are_parted_by_the_switch_function(void)
{
	const char *second[] = {"2"};
	struct tag_trace_options o = all();
	struct memory m;

	memory_init(&m, 1000000);
	memory_stream(&m, true, 0, 0, "", "");
	memory_play(&m, 0,
	            "0 >main 10 >g 20 >swtch 30 >clock_interrupt 35 <clock_interrupt 40 <swtch "
	            "42 <h 50 >f 60 >swtch 70 <swtch 75 <g 90 <main");
	check_text(&m, o,
	           "   0.000 000  -> main (25 us, 40 us)\n"
	           "   0.000 010    -> g (15 us, 15 us)\n"
	           "   0.000 020      -> swtch (0 us, 0 us)\n"
	           "   0.000 020  ---- Context switch out ---- process 1\n"
	           "   0.000 030  -> clock_interrupt (5 us, 5 us)\n"
	           "   0.000 035  <- clock_interrupt\n"
	           "   0.000 040  ---- Context switch in ---- process 2\n"
	           "   0.000 040  <- swtch [no entry was seen]\n"
	           "   0.000 042  <- h [no entry was seen]\n"
	           "   0.000 050  -> f (10 us, 10 us)\n"
	           "   0.000 060    -> swtch (0 us, 0 us)\n"
	           "   0.000 060  ---- Context switch out ---- process 2\n"
	           "   0.000 070  ---- Context switch in ---- process 1, out 50 us\n"
	           "   0.000 070      <- swtch\n"
	           "   0.000 075    <- g\n"
	           "   0.000 090  <- main\n"
	           "   0.000 090    <- swtch [open at the end]\n"
	           "   0.000 090  <- f [open at the end]\n"
	           "---- In the part that was read: 2 exits without their entries ----\n");
	o.processes = second;
	o.process_count = 1;
	check_text(&m, o,
	           "   0.000 040  ---- Context switch in ---- process 2\n"
	           "   0.000 040  <- swtch [no entry was seen]\n"
	           "   0.000 042  <- h [no entry was seen]\n"
	           "   0.000 050  -> f (10 us, 10 us)\n"
	           "   0.000 060    -> swtch (0 us, 0 us)\n"
	           "   0.000 060  ---- Context switch out ---- process 2\n"
	           "   0.000 090    <- swtch [open at the end]\n"
	           "   0.000 090  <- f [open at the end]\n"
	           "---- In the part that was read: 2 exits without their entries ----\n");
	memory_done(&m);
}

static void gaps_and_guesses_are_printed_in_place(void)
{
	struct memory m;
	struct tag_packet *p;

	memory_init(&m, 1000000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_play(&m, 0, "0 >main 100 >f 150 >g 200 <f 210 <h");
	p = memory_packet(&m, 0);
	p->gap = true;
	p->lost = 3;
	memory_play(&m, 0, "300 >f 310 <f");
	p = memory_packet(&m, 0);
	p->gap = true;
	memory_play(&m, 0, "400 >f 400 <f 420 <main 500 >f 600 =mark");
	check_text(&m, all(),
	           "   0.000 000 000  -> main (~0.110 us, ~0.210 us)\n"
	           "   0.000 000 100    -> f (~0.050 us, ~0.100 us)\n"
	           "   0.000 000 150      -> g (~0.050 us, ~0.050 us)\n"
	           "   0.000 000 200      <- g [no exit was seen]\n"
	           "   0.000 000 200    <- f\n"
	           "   0.000 000 210    <- h [no entry was seen]\n"
	           "   0.000 000 210  <- main [open at the gap]\n"
	           "   0.000 000 300  ---- Gap: 3 events were lost ----\n"
	           "   0.000 000 300  -> f (0.010 us, 0.010 us)\n"
	           "   0.000 000 310  <- f\n"
	           "   0.000 000 400  ---- Gap: events are missing, or capture was off ----\n"
	           "   0.000 000 400  -> f (0.000 us, 0.000 us)\n"
	           "   0.000 000 400  <- f\n"
	           "   0.000 000 420  <- main [no entry was seen; since the gap: 0.020 us]\n"
	           "   0.000 000 500  -> f (0.100 us, 0.100 us)\n"
	           "   0.000 000 600    == mark\n"
	           "   0.000 000 600  <- f [open at the end]\n"
	           "---- In the part that was read: 2 gaps, 3 events lost, 1 exit missing, 2 exits "
	           "without "
	           "their entries ----\n");
	memory_done(&m);
}

static void lost_events_do_not_move_the_begin(void)
{
	struct tag_packet *p;
	struct memory m;

	memory_init(&m, 1000000000);
	memory_stream(&m, false, 0, 0, "", "");
	memory_stream(&m, false, 7, 7, "prog", "prog");
	p = memory_packet(&m, 0);
	p->begin = p->end = 100;
	p->gap = true;
	p->lost = 12;
	m.r.streams.items[0].begin = 100;
	memory_play(&m, 1, "5000 >f 5010 <f");
	check_text(&m, all(),
	           "   0.000 000 000  stream 0  ---- Gap: 12 events were lost ----\n"
	           "   0.000 000 000  prog/7    -> f (0.010 us, 0.010 us)\n"
	           "   0.000 000 010  prog/7    <- f\n"
	           "---- In the part that was read: 1 gap, 12 events lost ----\n");
	memory_done(&m);
}

static void a_stream_may_continue_with_another_thread(void)
{
	struct memory m;
	struct tag_packet *p;

	memory_init(&m, 1000000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_play(&m, 0, "0 >main 100 >f");
	p = memory_packet(&m, 0);
	p->tid = 8;
	memcpy(p->thread, "next", 5);
	memory_play(&m, 0, "300 >f 310 <f");
	check_text(&m, all(),
	           "   0.000 000 000  -> main (0.100 us, 0.100 us)\n"
	           "   0.000 000 100    -> f (0.000 us, 0.000 us)\n"
	           "   0.000 000 100    <- f [open at the end]\n"
	           "   0.000 000 100  <- main [open at the end]\n"
	           "   0.000 000 300  ---- Thread next/8 ----\n"
	           "   0.000 000 300  -> f (0.010 us, 0.010 us)\n"
	           "   0.000 000 310  <- f\n");
	memory_done(&m);
}

static void moments_are_times_or_calls(void)
{
	static const struct {
		const char *text, *function;
		uint64_t ns, nth;
	} good[] = {
	        {"1.5s", NULL, 1500000000, 1},
	        {"200ms", NULL, 200000000, 1},
	        {"10us", NULL, 10000, 1},
	        {"5ns", NULL, 5, 1},
	        {"0s", NULL, 0, 1},
	        {"f", "f", 0, 1},
	        {"f#3", "f", 0, 3},
	        {"a::b(int)#12", "a::b(int)", 0, 12},
	        {"12", "12", 0, 1},
	        {"{lambda()#1}", "{lambda()#1}", 0, 1},
	        {"s", "s", 0, 1},
	        {"1.5.2s", "1.5.2s", 0, 1},
	};
	static const char *const bad[] = {"", "#3", "f#0"};
	struct error err;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct tag_point p = point(good[i].text);

		CHECK_EQ(p.nth, good[i].nth);
		CHECK_EQ(p.ns, good[i].ns);
		CHECK_EQ(p.function != NULL, good[i].function != NULL);
		if (p.function && good[i].function) {
			CHECK_EQ(p.length, strlen(good[i].function));
			CHECK(!memcmp(p.function, good[i].function, p.length));
		}
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tag_point p;

		CHECK(tag_point_parse(&p, bad[i], &err) < 0);
	}
}

int main(void)
{
	RUN(entries_have_net_and_total_and_lines_nest);
	RUN(a_clock_of_microseconds_has_no_nanoseconds);
	RUN(time_switched_out_is_left_out_unless_wall);
	RUN(from_and_to_are_times_calls_and_marks);
	RUN(events_that_never_occurred_are_reported);
	RUN(functions_and_depth_choose);
	RUN(a_recursive_call_is_in_the_outer_call);
	RUN(calls_longer_than_the_window_have_their_times_at_the_exit);
	RUN(threads_are_merged_by_time_and_each_line_names_its_own);
	RUN(a_devices_processes_are_parted_by_the_switch_function);
	RUN(gaps_and_guesses_are_printed_in_place);
	RUN(lost_events_do_not_move_the_begin);
	RUN(a_stream_may_continue_with_another_thread);
	RUN(moments_are_times_or_calls);
	return check_end();
}
