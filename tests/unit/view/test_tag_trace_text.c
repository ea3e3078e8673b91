/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code path on a terminal: columns, lines that are cut, and deep calls. */
#include "check.h"
#include "tag_trace_lines.h"

static void threads_are_shown_side_by_side(void)
{
	struct tag_trace_options o = all();
	struct tag_trace_result result;
	struct memory m;
	struct buf text;

	threads(&m);
	text = text_of(&m, &o, (struct how){.columns = true, .width = 110}, &result);
	CHECK_STR(buf_text(&text),
	          "   0.000 000 000  [prog/7]\n"
	          "   0.000 000 000  -> main (0.300 us, 0.400 us)\n"
	          "   0.000 000 050                                [worker/8]\n"
	          "   0.000 000 050                                -> g (0.280 us, 0.330 us)\n"
	          "   0.000 000 200    -> f (0.100 us, 0.100 us)\n"
	          "   0.000 000 200                                  -> h (0.050 us, 0.050 us)\n"
	          "   0.000 000 250                                  <- h\n"
	          "   0.000 000 300    <- f\n"
	          "   0.000 000 380                                <- g\n"
	          "   0.000 000 390                                                              "
	          "[other/9]\n"
	          "   0.000 000 390                                                              "
	          "-> f (0.005 us, 0.005 us)\n"
	          "   0.000 000 395                                                              "
	          "<- f\n"
	          "   0.000 000 400  <- main\n");
	buf_done(&text);
	/* Only two columns of 31 fit: the third thread uses the first column, with a note. */
	text = text_of(&m, &o, (struct how){.columns = true, .width = 80}, &result);
	CHECK(strstr(buf_text(&text), "\n   0.000 000 390  [other/9]\n"
	                              "   0.000 000 390  -> f (0.005 us, 0.005 us)\n"
	                              "   0.000 000 395  <- f\n"
	                              "   0.000 000 400  [prog/7]\n"
	                              "   0.000 000 400  <- main\n") != NULL);
	buf_done(&text);
	memory_done(&m);
}

static void a_terminal_cuts_names_before_times(void)
{
	struct tag_trace_options o = all();
	struct tag_trace_result result;
	struct memory m;
	struct buf text;

	small(&m);
	o.depth = 2;
	text = text_of(&m, &o, (struct how){.width = 40, .colour = true}, &result);
	CHECK_STR(buf_text(&text), "\033[2m   0.000 000 000\033[0m  -> main (0.300 us, 1.~\n"
	                           "\033[2m   0.000 000 100\033[0m    -> f (0.250 us, 0.3~\n"
	                           "\033[2m   0.000 000 400\033[0m  \033[2m  <- f\033[0m\n"
	                           "\033[2m   0.000 000 500\033[0m    -> f (0.400 us, 0.4~\n"
	                           "\033[2m   0.000 000 900\033[0m  \033[2m  <- f\033[0m\n"
	                           "\033[2m   0.000 001 000\033[0m  \033[2m<- main\033[0m\n");
	buf_done(&text);
	memory_done(&m);

	/* Deep lines show their depth as a number instead of an indentation. */
	memory_init(&m, 1000000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	for (uint64_t i = 0; i < 20; i++)
		memory_event(&m, 0, i, 14);
	o = all();
	text = text_of(&m, &o, (struct how){.width = 64}, &result);
	CHECK(strstr(buf_text(&text),
	             "   0.000 000 003        -> clock_interrupt (0.001 us, 0.016 us)\n"
	             "   0.000 000 004          -> clock_interru~ (0.001 us, 0.015 us)\n"));
	CHECK(strstr(buf_text(&text),
	             "   0.000 000 019                19: -> clock_inter~ (0.000 us, ~\n"));
	for (const char *line = buf_text(&text); *line; line += strcspn(line, "\n") + 1)
		CHECK(strcspn(line, "\n") <= 64);
	CHECK(strstr(buf_text(&text), "   0.000 000 019  <- clock_interrupt [open at the end]\n"));
	buf_done(&text);
	memory_done(&m);
}

static void a_deep_call_is_numbered_and_not_indented_without_end(void)
{
	struct tag_trace_options o = all();
	struct tag_trace_result result;
	struct memory m;
	struct buf text;

	memory_init(&m, 1000000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	for (uint64_t i = 0; i <= 3000; i++)
		memory_event(&m, 0, i, 4);
	text = text_of(&m, &o, (struct how){0}, &result);
	CHECK(strstr(buf_text(&text), "      -> f (0.001 us, 2.900 us)\n"));
	CHECK(strstr(buf_text(&text), "      101: -> f (0.001 us, 2.899 us)\n"));
	CHECK(text.size < 6002 * 260);
	buf_done(&text);
	memory_done(&m);
}

int main(void)
{
	RUN(threads_are_shown_side_by_side);
	RUN(a_terminal_cuts_names_before_times);
	RUN(a_deep_call_is_numbered_and_not_indented_without_end);
	return check_end();
}
