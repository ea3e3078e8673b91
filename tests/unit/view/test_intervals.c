/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sample times with known intervals. */
#include "check.h"

#include "output/document_output.h"
#include "view/confidence/intervals_document.h"

#include <errno.h>
#include <math.h>

#define PERIOD 1000000

static void feed(struct event_sink *sink, uint32_t cpu, int32_t pid, uint64_t time_ns)
{
	struct event e = {
	        .kind = EVENT_SAMPLE, .cpu = cpu, .pid = pid, .tid = pid, .time_ns = time_ns};
	struct error err = {0};

	CHECK_EQ(sink->event(sink->ctx, &e, &err), 0);
}

static void recording_with_clock(struct recording *r, uint64_t period_ns)
{
	struct recording_attr attr = {
	        .name = xstrdup("cpu-clock"), .role = ATTR_CLOCK, .period_ns = period_ns};

	recording_init(r);
	vec_push(&r->attrs, attr);
}

/* CPU 0: 1001 samples on the grid; CPU 1: every tenth is missing. */
static void fill(struct ticks *t, const struct recording *r)
{
	struct event_sink sink;
	struct error err = {0};

	ticks_init(t);
	sink = ticks_sink(t);
	CHECK_EQ(sink.begin(sink.ctx, r, &err), 0);
	for (uint64_t i = 0; i <= 1000; i++) {
		feed(&sink, 0, 0, PERIOD * (i + 5));
		if (i % 10 != 3)
			feed(&sink, 1, 7, PERIOD * (i + 5) + 300);
	}
	CHECK_EQ(sink.end(sink.ctx, r, &err), 0);
}

static void test_even_ticks(void)
{
	struct recording r;
	struct intervals *v;
	struct ticks t;

	recording_with_clock(&r, PERIOD);
	fill(&t, &r);
	v = intervals_new(&t);
	CHECK(v->machine_wide);
	CHECK_EQ(v->period_ns, PERIOD);
	CHECK_EQ(v->cpus.count, 2);
	CHECK_EQ(v->cpus.items[0].samples, 1001);
	CHECK_EQ(v->cpus.items[0].all.count, 1000);
	CHECK_EQ(v->cpus.items[0].missing, 0);
	CHECK_EQ(v->cpus.items[0].all.mean_ns, PERIOD);
	CHECK_EQ(v->cpus.items[0].all.deviation_ns, 0);
	CHECK_EQ(v->cpus.items[0].all.percentiles_ns[3], PERIOD);
	CHECK_EQ(v->cpus.items[0].late.max_ns, 0);
	intervals_free(v);
	ticks_done(&t);
	recording_done(&r);
}

static void test_missing_ticks(void)
{
	const struct intervals_cpu *c;
	struct recording r;
	struct intervals *v;
	struct ticks t;
	uint64_t binned = 0;

	recording_with_clock(&r, PERIOD);
	fill(&t, &r);
	v = intervals_new(&t);
	c = &v->cpus.items[1];
	CHECK_EQ(c->samples, 901); /* 3, 13, ... 993 are missing */
	CHECK_EQ(c->missing, 100);
	CHECK_EQ(c->all.count, 900);
	CHECK_EQ(c->all.max_ns, 2 * PERIOD);
	CHECK(fabs(c->all.mean_ns - 1000.0 / 900 * PERIOD) < 1);
	CHECK_EQ(c->trimmed.count, 890);
	CHECK_EQ(c->all.curve_ns[0], PERIOD);
	CHECK_EQ(c->all.curve_ns[INTERVALS_CURVE], 2 * PERIOD);
	CHECK_EQ(c->all.percentiles_ns[4], PERIOD); /* 75 % */
	CHECK_EQ(c->all.percentiles_ns[5], 2 * PERIOD);
	for (size_t b = 0; b < INTERVALS_BINS; b++)
		binned += c->bins[b].count;
	CHECK_EQ(binned, 900);
	CHECK_EQ(c->bins[0].count, 800);
	CHECK_EQ(c->bins[INTERVALS_BINS - 1].count, 100);
	intervals_free(v);
	ticks_done(&t);
	recording_done(&r);
}

static void test_extremes_are_left_out(void)
{
	struct event_sink sink;
	struct error err = {0};
	struct recording r;
	struct intervals *v;
	struct ticks t;
	uint64_t now = PERIOD;

	recording_with_clock(&r, 0);
	ticks_init(&t);
	sink = ticks_sink(&t);
	CHECK_EQ(sink.begin(sink.ctx, &r, &err), 0);
	for (int i = 0; i < 1001; i++) {
		feed(&sink, 0, 7, now);
		now += i == 500 ? 50 * PERIOD : PERIOD + (uint64_t)(i % 7);
	}
	feed(&sink, 0, 7, PERIOD); /* out of order: counted, not used */
	v = intervals_new(&t);
	CHECK_EQ(v->cpus.items[0].all.max_ns, 50 * PERIOD);
	CHECK(v->cpus.items[0].trimmed.max_ns <= PERIOD + 6);
	CHECK_EQ(v->cpus.items[0].backwards, 1);
	CHECK_EQ(v->cpus.items[0].late.count, 0);
	CHECK(!v->machine_wide);
	intervals_free(v);
	ticks_done(&t);
	recording_done(&r);
}

/* One tick in ten is late: the bars contain these, and readers get the limit. */
static void delayed_ticks_are_marked(void)
{
	const struct document_text_options plain = {0};
	struct event_sink sink;
	struct error err = {0};
	struct recording r;
	struct intervals *v;
	struct document d;
	struct buf out = {0};
	struct ticks t;
	uint64_t marked = 0, count = 0;

	recording_with_clock(&r, PERIOD);
	ticks_init(&t);
	sink = ticks_sink(&t);
	CHECK_EQ(sink.begin(sink.ctx, &r, &err), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		feed(&sink, 0, 7, i * PERIOD + 1000 * (i % 3) + (i % 10 ? 0 : 40000));
	v = intervals_new(&t);
	CHECK(v->cpus.items[0].late_limit_ns > 0 && v->cpus.items[0].late_limit_ns < 40000);
	for (int i = 0; i < INTERVALS_BINS; i++) {
		count += v->cpus.items[0].bins[i].count;
		marked += v->cpus.items[0].bins[i].marked;
	}
	CHECK_EQ(count, 999);
	CHECK_EQ(marked, 100);
	document_init(&d);
	intervals_document_fill(&d, v);
	document_text_print(&d, &plain, NULL, &out);
	CHECK(strstr(buf_text(&out), "count  delayed   share"));
	CHECK(strstr(buf_text(&out), "delayed: intervals whose second sample came later than"));
	document_done(&d);
	buf_done(&out);
	intervals_free(v);
	ticks_done(&t);
	recording_done(&r);
}

static void test_outputs(void)
{
	const struct document_text_options plain = {0};
	struct recording r;
	struct buf out = {0};
	struct document d;
	struct intervals *v;
	struct ticks t;

	recording_with_clock(&r, PERIOD);
	fill(&t, &r);
	v = intervals_new(&t);
	document_init(&d);
	intervals_document_fill(&d, v);
	document_text_print(&d, &plain, NULL, &out);
	CHECK(strstr(buf_text(&out), "CPU 1: 901 samples, 100 ticks missing (10.0 %)\n"));
	CHECK(strstr(buf_text(&out), "  900  1111.111"));
	buf_clear(&out);
	document_json_print(&d, false, NULL, &out);
	CHECK(strstr(buf_text(&out), "\"expected_ns\": 1000000"));
	CHECK(strstr(buf_text(&out), "\"missing\": 100"));
	document_done(&d);
	buf_done(&out);
	intervals_free(v);
	ticks_done(&t);
	recording_done(&r);
}

/* Two recordings: a gap between them is no interval; another rate is refused. */
static void test_two_recordings(void)
{
	struct recording r, other;
	struct event_sink sink;
	struct error err = {0};
	struct intervals *v;
	struct ticks t;

	recording_with_clock(&r, PERIOD);
	recording_with_clock(&other, 2 * PERIOD);
	fill(&t, &r);
	sink = ticks_sink(&t);
	CHECK_EQ(sink.begin(sink.ctx, &r, &err), 0);
	feed(&sink, 0, 0, 100 * PERIOD);
	feed(&sink, 0, 0, 101 * PERIOD);
	CHECK_EQ(sink.end(sink.ctx, &r, &err), 0);
	v = intervals_new(&t);
	CHECK_EQ(v->cpus.count, 3);
	CHECK_EQ(v->cpus.items[2].recording, 1);
	CHECK_EQ(v->cpus.items[2].all.count, 1);
	CHECK_EQ(v->cpus.items[2].backwards, 0);
	CHECK_EQ(sink.begin(sink.ctx, &other, &err), -EINVAL);
	intervals_free(v);
	ticks_done(&t);
	recording_done(&r);
	recording_done(&other);
}

int main(void)
{
	RUN(test_even_ticks);
	RUN(test_missing_ticks);
	RUN(test_extremes_are_left_out);
	RUN(delayed_ticks_are_marked);
	RUN(test_outputs);
	RUN(test_two_recordings);
	return check_end();
}
