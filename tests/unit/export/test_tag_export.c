/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A code path in the formats of other tools: complete, and without parts that they refuse. */
#include "check.h"
#include "tag_trace_fixture.h"

#include "export/times/chrome.h"
#include "export/folded.h"
#include "view/symbolized/symbolized.h"
#include "view/tags/tag_paths.h"

static struct buf chrome_of(struct memory *m, struct tag_trace_options *o)
{
	struct tag_trace_result result;
	struct error err = {0};
	struct chrome c;
	struct spill out;
	struct buf text;

	spill_to(&out, -1, "memory");
	chrome_init(&c, &m->r, &out);
	o->line = chrome_line;
	o->of = &c;
	if (tag_trace_run(&m->r, o, &result, &err))
		printf("# %s\n", err.text);
	chrome_end(&c);
	chrome_done(&c);
	text = out.buf;
	spill_close(&out, true, NULL);
	return text;
}

static struct buf folded_of(struct memory *m, struct tag_trace_options *o, size_t max,
                            unsigned columns, bool comments)
{
	struct tag_paths *p = tag_paths_new(max, o->wall);
	struct tag_trace_result result;
	struct error err = {0};
	struct symbolized_profile n;
	struct spill out;
	struct buf text;

	symbolized_profile_init(&n);
	o->line = tag_paths_line;
	o->of = p;
	if (tag_trace_run(&m->r, o, &result, &err))
		printf("# %s\n", err.text);
	tag_paths_finish(p, &m->r, &n);
	tag_paths_free(p);
	spill_to(&out, -1, "memory");
	folded_write(&n, columns, &out);
	if (comments)
		vec_each (id, &n.comments)
			buf_addf(&out.buf, "# %s\n", intern_text(&n.texts, *id));
	text = out.buf;
	spill_close(&out, true, NULL);
	symbolized_profile_done(&n);
	return text;
}

static void small(struct memory *m)
{
	memory_init(m, 1000000000);
	m->r.switches = true;
	memory_stream(m, false, 7, 7, "prog", "prog");
	memory_play(m, 0,
	            "5000 >main 5100 >f 5200 >g 5230 =mark 5250 <g 5300 ~b 9300 ~i 9400 <f "
	            "9500 >f 9900 <f 10000 <main");
}

static void chrome_has_each_call_with_its_times(void)
{
	static const struct {
		const char *kind, *ts, *name, *more;
	} events[] = {
	        {"B", "0.000", "main", ""},      {"B", "0.100", "f", ""},
	        {"B", "0.200", "g", ""},         {"i", "0.230", "mark", ",\"s\":\"t\""},
	        {"E", "0.250", "g", ""},         {"B", "0.300", "(blocked)", ""},
	        {"E", "4.300", "(blocked)", ""}, {"E", "4.400", "f", ""},
	        {"B", "4.500", "f", ""},         {"E", "4.900", "f", ""},
	        {"E", "5.000", "main", ""},
	};
	struct tag_trace_options o = {0};
	struct buf text, want = {0};
	struct memory m;

	small(&m);
	text = chrome_of(&m, &o);
	buf_puts(&want, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	buf_puts(&want, "{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_name\","
	                "\"args\":{\"name\":\"prog\"}},\n");
	buf_puts(&want, "{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"thread_name\","
	                "\"args\":{\"name\":\"prog\"}}");
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		buf_addf(&want,
		         ",\n{\"ph\":\"%s\",\"pid\":7,\"tid\":7,\"ts\":%s,\"name\":\"%s\"%s}",
		         events[i].kind, events[i].ts, events[i].name, events[i].more);
	buf_puts(&want, "\n],\"otherData\":{\"by\":\"assay\"}}\n");
	CHECK_STR(buf_text(&text), want.data);
	buf_done(&want);
	buf_done(&text);
	memory_done(&m);
}

/* Checks that each E ends the last B of its thread, by name. Returns the number; -1: mismatch. */
static int balance(const char *text)
{
	static char open[16][16][64];
	int depth[16] = {0}, begun = 0, pid, tid;
	char kind, name[64];

	for (const char *line = text, *next; line; line = next ? next + 1 : NULL) {
		const char *at = strstr(line, "\"name\":");

		next = strchr(line, '\n');
		if (sscanf(line, "{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d", &kind, &pid, &tid) != 3 ||
		    (kind != 'B' && kind != 'E'))
			continue;
		if (pid > 15 || depth[pid] > 15 || sscanf(at, "\"name\":%63[^}]", name) != 1 ||
		    (kind == 'E' && (!depth[pid] || strcmp(open[pid][--depth[pid]], name) != 0)))
			return -1;
		if (kind == 'E')
			continue;
		begun++;
		memcpy(open[pid][depth[pid]++], name, sizeof(name));
	}
	for (int i = 0; i < 16; i++)
		if (depth[i])
			return -1;
	return begun;
}

/* 64 bytes an event of 8, over all streams. */
static void chromes_size_is_known_before_it_is_written(void)
{
	struct memory m;

	memory_init(&m, 1000000000);
	CHECK_EQ(chrome_estimate(&m.r), 0);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_stream(&m, false, 8, 8, "prog", "prog");
	m.r.streams.items[0].bytes = UINT64_C(571000000);
	m.r.streams.items[1].bytes = 8;
	CHECK_EQ(chrome_estimate(&m.r), UINT64_C(571000000) * 8 + 64);
	memory_done(&m);
}

static void chrome_is_whole_whatever_is_missing(void)
{
	const char *f[] = {"f"};
	struct tag_trace_options o = {0};
	struct memory m;
	struct buf text;

	memory_init(&m, 1000000000);
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_play(&m, 0, "0 >main 100 >f 150 >quote\"d 200 <f 210 <h 300 >f 310 ~p");
	text = chrome_of(&m, &o);
	CHECK_EQ(balance(buf_text(&text)), 5); /* and one that is switched out */
	CHECK(strstr(buf_text(&text), "\"name\":\"quote\\\"d\"}") != NULL);
	CHECK(strstr(buf_text(&text), "\"no exit was seen\"") != NULL);
	CHECK(strstr(buf_text(&text), "\"open at the end\"") != NULL);
	CHECK(strstr(buf_text(&text), "\"exit without an entry\"") != NULL);
	buf_done(&text);
	/* Calls that start before --from and end after --to. */
	o.from = (struct tag_point){.given = true, .ns = 180};
	o.to = (struct tag_point){.given = true, .ns = 305};
	text = chrome_of(&m, &o);
	CHECK_EQ(balance(buf_text(&text)), 4);
	buf_done(&text);
	o.functions = f;
	o.function_count = 1;
	text = chrome_of(&m, &o);
	CHECK_EQ(balance(buf_text(&text)), 3);
	buf_done(&text);
	memory_done(&m);
	/* None at all. */
	memory_init(&m, 1000000000);
	o = (struct tag_trace_options){0};
	text = chrome_of(&m, &o);
	CHECK_STR(buf_text(&text), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
	                           "],\"otherData\":{\"by\":\"assay\"}}\n");
	buf_done(&text);
	memory_done(&m);
}

static void paths_have_net_times_and_separate_times_switched_out(void)
{
	struct tag_trace_options o = {0};
	struct memory m;
	struct buf text;

	small(&m);
	text = folded_of(&m, &o, 100, 1u << NAMED_NET, true);
	CHECK_STR(buf_text(&text), "prog;main 300\n"
	                           "prog;main;f 650\n"
	                           "prog;main;f;g 50\n");
	buf_done(&text);
	text = folded_of(&m, &o, 100, 1u << NAMED_CALLS, false);
	CHECK_STR(buf_text(&text), "prog;main 1\n"
	                           "prog;main;f 2\n"
	                           "prog;main;f;g 1\n");
	buf_done(&text);
	text = folded_of(&m, &o, 100, 1u << NAMED_BLOCKED, false);
	CHECK_STR(buf_text(&text), "prog;main;f 4000\n");
	buf_done(&text);
	/* With --wall it is part of the net time of the function on top, and is counted once. */
	o.wall = true;
	text = folded_of(&m, &o, 100, 1u << NAMED_NET | 1u << NAMED_BLOCKED, false);
	CHECK_STR(buf_text(&text), "prog;main 300\n"
	                           "prog;main;f 4650\n"
	                           "prog;main;f;g 50\n");
	buf_done(&text);
	memory_done(&m);
}

static void truncated_calls_and_paths_beyond_the_limit_are_reported(void)
{
	struct tag_trace_options o = {.from = {.given = true, .ns = 200}};
	struct memory m;
	struct buf text;

	small(&m);
	text = folded_of(&m, &o, 100, 1u << NAMED_NET, true);
	/* main and the first f had been entered before. */
	CHECK_STR(buf_text(&text),
	          "prog;g 50\n"
	          "prog;f 400\n"
	          "# calls that are only partly in the selected time, left out: 2\n");
	buf_done(&text);
	o = (struct tag_trace_options){0};
	text = folded_of(&m, &o, 2, 1u << NAMED_NET, true);
	CHECK_STR(buf_text(&text),
	          "prog;main 300\n"
	          "prog;main;f 650\n"
	          "[other paths];[other paths] 50\n"
	          "# calls of paths beyond the first 2, counted as [other paths]: 1\n");
	buf_done(&text);
	memory_done(&m);
}

static void threads_of_a_process_share_its_paths_and_a_devices_processes_have_numbers(void)
{
	struct tag_trace_options o = {0};
	struct memory m;
	struct buf text;

	memory_init(&m, 3); /* thirds of a second: rounded once, not a call */
	memory_stream(&m, false, 7, 7, "prog", "prog");
	memory_stream(&m, false, 7, 8, "prog", "worker");
	memory_play(&m, 0, "0 >f 1 <f 2 >f 3 <f 4 >f 5 <f");
	memory_play(&m, 1, "0 >f 1 <f 2 >g 3 <g");
	text = folded_of(&m, &o, 100, 1u << NAMED_NET, true);
	CHECK_STR(buf_text(&text), "prog;f 1333333333\n"
	                           "prog;g 333333333\n");
	buf_done(&text);
	memory_done(&m);

	memory_init(&m, 1000000);
	memory_stream(&m, true, 0, 0, "", "");
	memory_play(&m, 0,
	            "0 >main 10 >g 20 >swtch 30 >clock_interrupt 35 <clock_interrupt 40 <swtch "
	            "42 <h 50 >f 60 >swtch 70 <swtch 75 <g 90 <main");
	text = folded_of(&m, &o, 100, 1u << NAMED_NET, true);
	CHECK_STR(buf_text(&text), "process 1;main 25000\n"
	                           "process 1;main;g 15000\n"
	                           "no process;clock_interrupt 5000\n"
	                           "process 2;f 10000\n");
	buf_done(&text);
	text = folded_of(&m, &o, 100, 1u << NAMED_BLOCKED, true);
	CHECK_STR(buf_text(&text), "process 1;main;g;swtch 50000\n");
	buf_done(&text);
	memory_done(&m);
}

int main(void)
{
	RUN(chrome_has_each_call_with_its_times);
	RUN(chromes_size_is_known_before_it_is_written);
	RUN(chrome_is_whole_whatever_is_missing);
	RUN(paths_have_net_times_and_separate_times_switched_out);
	RUN(truncated_calls_and_paths_beyond_the_limit_are_reported);
	RUN(threads_of_a_process_share_its_paths_and_a_devices_processes_have_numbers);
	return check_end();
}
