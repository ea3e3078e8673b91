/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code path of long traces: it is printed while the trace is read, and adds up to the summary.
 */
#include "check.h"
#include "tag_trace_fixture.h"

#include "tags/tag_summary.h"

static struct tag_trace_options all(void)
{
	return (struct tag_trace_options){.window = TAG_TRACE_WINDOW};
}

static struct tag_point point(const char *text)
{
	struct tag_point p = {0};
	struct error err = {0};

	CHECK(!tag_point_parse(&p, text, &err));
	return p;
}

struct first {
	const struct memory *m;
	size_t packets; /* bytes read when the first line was printed */
	uint64_t stop_after, lines;
};

static int note_first(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	struct first *f = of;

	if (!f->lines++)
		f->packets = f->m->packets_read;
	return f->stop_after && f->lines == f->stop_after;
}

/* main, and in it f after f, in many packets. */
static void long_one(struct memory *m, size_t packets, size_t calls)
{
	uint64_t time = 1;

	memory_init(m, 1000000000);
	memory_stream(m, false, 7, 7, "prog", "prog");
	memory_event(m, 0, 0, 2);
	for (size_t i = 0; i < packets; i++) {
		memory_packet(m, 0);
		for (size_t k = 0; k < calls; k++) {
			memory_event(m, 0, time++, 4);
			memory_event(m, 0, time++, 5);
		}
	}
	memory_event(m, 0, time, 3);
}

static void lines_are_printed_while_reading_and_a_limit_ends_it(void)
{
	struct tag_trace_options o = all();
	struct tag_trace_result result;
	struct first first;
	struct memory m;

	long_one(&m, 200, 1000);
	o.line = note_first;
	o.of = &first;
	first = (struct first){.m = &m};
	CHECK(!tag_trace_run(&m.r, &o, &result, NULL));
	/* 65536 events are 33 packets of 2000, and the first one of one event. */
	CHECK_EQ(first.packets, 34);
	CHECK_EQ(first.lines, 400002);
	CHECK_EQ(result.events, 400002);
	/* Hidden events count too: otherwise --depth 1 would print nothing until the end. */
	m.packets_read = 0;
	o.depth = 1;
	first = (struct first){.m = &m};
	CHECK(!tag_trace_run(&m.r, &o, &result, NULL));
	CHECK_EQ(first.packets, 34);
	CHECK_EQ(first.lines, 2);
	/* A reader that stops early. */
	m.packets_read = 0;
	o.depth = 0;
	first = (struct first){.m = &m, .stop_after = 10};
	CHECK(!tag_trace_run(&m.r, &o, &result, NULL));
	CHECK_EQ(first.lines, 10);
	CHECK_EQ(m.packets_read, 34);
	/* After --to, events are only read for times, at most as many as the window. */
	m.packets_read = 0;
	o.to = point("f#1");
	first = (struct first){.m = &m};
	CHECK(!tag_trace_run(&m.r, &o, &result, NULL));
	CHECK_EQ(first.lines, 3);
	CHECK_EQ(m.packets_read, 34);
	m.packets_read = 0;
	o.from = point("f#2");
	o.to = point("f#2");
	first = (struct first){.m = &m};
	CHECK(!tag_trace_run(&m.r, &o, &result, NULL));
	CHECK_EQ(first.lines, 3); /* .. main, -> f, <- f */
	CHECK_EQ(m.packets_read, 2);
	memory_done(&m);
}

struct sums {
	uint64_t net[32], calls[32]; /* by tag / 2 */
	uint64_t entered, left;
	uint64_t last;
	bool back;
};

static int add_up(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	struct sums *s = of;

	s->back |= line->time < s->last;
	s->last = line->time;
	s->entered += line->kind == TRACE_LINE_ENTER;
	s->left += line->kind == TRACE_LINE_EXIT;
	if (line->kind == TRACE_LINE_ENTER)
		s->calls[line->tag / 2]++;
	if (line->kind == TRACE_LINE_EXIT || line->kind == TRACE_LINE_UNMATCHED)
		s->net[line->tag / 2] += line->net;
	return 0;
}

/* Threads (and a CPU) with random calls, some of whose exits are lost. */
static void at_random(struct memory *m, unsigned seed)
{
	static const uint32_t functions[] = {2, 4, 6, 8, 14, 16, 18, 12};

	memory_init(m, 1000000000);
	for (uint32_t stream = 0; stream < 4; stream++) {
		uint32_t open[40], depth = 0;
		uint64_t time = stream * 1000;

		memory_stream(m, stream == 3, 7, (int32_t)stream + 1, "prog", "prog");
		for (int i = 0; i < 3000; i++) {
			unsigned dice = (seed = seed * 1103515245 + 12345) >> 16 & 0xff;

			time += dice;
			if (i % 500 == 499)
				memory_packet(m, stream)->gap = dice & 1;
			if (depth < 30 && (dice % 7 < 3 || !depth)) {
				open[depth] = functions[dice % 8];
				memory_event(m, stream, time, open[depth++]);
			} else {
				depth--;
				if (dice % 32)
					memory_event(m, stream, time, open[depth] + 1);
			}
		}
	}
}

static void lines_add_up_to_the_summary(void)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct tag_summary_options so = {0};
		struct tag_summary *summary = tag_summary_new(&so);
		struct tag_trace_options o = all();
		struct tag_trace_result result;
		struct sums s = {0};
		struct memory m;

		at_random(&m, seed);
		o.line = add_up;
		o.of = &s;
		o.window = seed * 10;
		CHECK(!tag_trace_run(&m.r, &o, &result, NULL));
		CHECK(!tag_summary_recording(summary, &m.r, NULL));
		tag_summary_finish(summary);
		CHECK_EQ(s.entered, s.left);
		CHECK(!s.back && s.entered > 5000);
		CHECK(summary->functions.count >= 7);
		vec_each (f, &summary->functions) {
			CHECK_EQ(s.net[f->tag / 2], f->net);
			CHECK_EQ(s.calls[f->tag / 2], f->calls);
		}
		CHECK_EQ(result.damage.missing_exits, summary->damage.missing_exits);
		CHECK_EQ(result.damage.gaps, summary->damage.gaps);
		tag_summary_free(summary);
		memory_done(&m);
	}
}

int main(void)
{
	RUN(lines_are_printed_while_reading_and_a_limit_ends_it);
	RUN(lines_add_up_to_the_summary);
	return check_end();
}
