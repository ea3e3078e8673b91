/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code path of a trace in memory as text, and traces that several tests print.
 */
#ifndef TAG_TRACE_LINES_H
#define TAG_TRACE_LINES_H

#include "check.h"
#include "tag_trace_fixture.h"

#include "output/text/tags_trace_text.h"

static inline struct tag_trace_options all(void)
{
	return (struct tag_trace_options){.window = TAG_TRACE_WINDOW};
}

struct how {
	bool columns, one;
	unsigned width;
	bool colour;
};

/* The text; to be freed with buf_done(). */
static inline struct buf text_of(struct memory *m, struct tag_trace_options *o, struct how how,
                                 struct tag_trace_result *result)
{
	struct text_style style = {.width = how.width, .colour = how.colour};
	struct tags_trace_text x;
	struct error err = {0};
	struct spill out;
	struct buf text;

	spill_to(&out, -1, "memory");
	tags_trace_text_init(&x, &m->r, &style, &out);
	x.columns = how.columns;
	o->line = tags_trace_text_line;
	o->of = &x;
	if (tag_trace_run(&m->r, o, result, &err))
		buf_addf(&out.buf, "error: %s\n", err.text);
	else
		tags_trace_text_end(&x, result);
	tags_trace_text_done(&x);
	text = out.buf;
	spill_close(&out, true, NULL);
	CHECK_EQ(m->opened, m->closed);
	return text;
}

static inline void check_text(struct memory *m, struct tag_trace_options o, const char *want)
{
	struct tag_trace_result result;
	struct buf text = text_of(m, &o, (struct how){0}, &result);

	CHECK_STR(buf_text(&text), want);
	buf_done(&text);
}

/* One thread: main 0..1000 with f 100..400 (g 200..250 in it) and f 500..900. */
static inline void small(struct memory *m)
{
	memory_init(m, 1000000000);
	memory_stream(m, false, 7, 7, "prog", "prog");
	memory_play(m, 0,
	            "5000 >main 5100 >f 5200 >g 5230 =mark 5250 <g 5400 <f "
	            "5500 >f 5900 <f 6000 <main");
}

static inline struct tag_point point(const char *text)
{
	struct tag_point p = {0};
	struct error err = {0};

	CHECK(!tag_point_parse(&p, text, &err));
	return p;
}

static inline void threads(struct memory *m)
{
	memory_init(m, 1000000000);
	memory_stream(m, false, 7, 7, "prog", "prog");
	memory_stream(m, false, 7, 8, "prog", "worker");
	memory_stream(m, false, 9, 9, "other", "other");
	memory_play(m, 0, "0 >main 200 >f 300 <f 400 <main");
	memory_play(m, 1, "50 >g 200 >h 250 <h 380 <g");
	memory_play(m, 2, "390 >f 395 <f");
}

#endif
