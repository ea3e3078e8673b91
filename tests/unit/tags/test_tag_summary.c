/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The summary of captures with known figures: sums of calls, several streams in several threads,
 * threads and processes counted, histograms, a reader that fails.
 * tests/unit/tags/test_tag_engine_model.c tests the rules, this file their results.
 */
#include "check.h"
#include "tag_capture_fixture.h"
#include "tags/tag_engine_run.h"

#include <errno.h>

static struct tag_summary *sum_up(struct capture *c, const struct tag_summary_options *options)
{
	struct tag_summary *s = tag_summary_new(options);
	struct error err = {0};

	CHECK_EQ(tag_summary_recording(s, &c->recording, &err), 0);
	tag_summary_finish(s);
	CHECK_EQ(capture_booked(s), s->elapsed);
	return s;
}

static const struct tag_function *function_of(const struct tag_summary *s, uint32_t names,
                                              uint32_t tag)
{
	static const struct tag_function none;

	vec_each (f, &s->functions) {
		if (f->tag == tag && f->names == names)
			return f;
	}
	CHECK(!"there is such a function");
	return &none;
}

/* Two threads; the calls of 9 and of 1000 ticks, and one that never ends, of which none is timed.
 */
static void certain_calls_are_counted_by_their_net(void)
{
	struct capture c;
	uint64_t now = 100;

	capture_init(&c);
	for (int thread = 0; thread < 2; thread++) {
		capture_stream(&c, false, 5, 5 + thread);
		capture_packet(&c, now);
		for (int i = 0; i < 10; i++) {
			capture_event(&c, now, TAG_A);
			capture_event(&c, now += i ? 9 : 1000, EXIT(TAG_A));
		}
		capture_event(&c, now, TAG_A);
		capture_event(&c, now += 9, TAG_PLACE);
	}
	struct tag_summary *s = sum_up(&c, NULL);
	const struct tag_function *a = function_of(s, 0, TAG_A);
	uint64_t all = 0;

	CHECK_EQ(a->calls, 22);
	CHECK_EQ(tag_times_at(&s->times, a->times, assay_times_bucket(9)), 18);
	CHECK_EQ(tag_times_at(&s->times, a->times, assay_times_bucket(1000)), 2);
	for (uint32_t bucket = 0; bucket < TAG_TIMES_BUCKETS; bucket++)
		all += tag_times_at(&s->times, a->times, bucket);
	CHECK_EQ(all, 20);
	CHECK_EQ(tag_times_at(&s->times, 1000000, 9), 0); /* no such function */
	tag_summary_free(s);
	capture_done(&c);
}

static void recursion_is_elapsed_once(void)
{
	struct capture c;

	capture_init(&c);
	capture_stream(&c, false, 5, 5);
	capture_packet(&c, 100);
	capture_event(&c, 100, TAG_A);
	capture_event(&c, 110, TAG_B);
	capture_event(&c, 112, TAG_A);
	capture_event(&c, 117, EXIT(TAG_A));
	capture_event(&c, 118, EXIT(TAG_B));
	capture_event(&c, 120, TAG_PLACE);
	capture_event(&c, 130, EXIT(TAG_A));
	struct tag_summary *s = sum_up(&c, NULL);
	const struct tag_function *a = function_of(s, 0, TAG_A), *b = function_of(s, 0, TAG_B);

	CHECK_EQ(s->tags, 7);
	CHECK_EQ(s->first, 100);
	CHECK_EQ(s->last, 130);
	CHECK_EQ(s->elapsed, 30);
	CHECK_EQ(s->idle, 0);
	CHECK_EQ(s->outside, 0);
	CHECK_EQ(s->streams, 1);
	CHECK_EQ(s->threads, 1);
	CHECK_EQ(s->processes, 1);
	CHECK_EQ(s->functions.count, 3);
	CHECK_EQ(a->calls, 2);
	CHECK_EQ(a->ended, 2);
	CHECK_EQ(a->elapsed, 30); /* not 30 + 5 */
	CHECK_EQ(a->net, 22 + 5);
	CHECK_EQ(a->certain.net.min, 5);
	CHECK_EQ(a->certain.net.max, 22);
	CHECK_EQ(b->elapsed, 8);
	CHECK_EQ(b->net, 3);
	CHECK_EQ(function_of(s, 0, TAG_PLACE)->calls, 1);
	CHECK_EQ(function_of(s, 0, TAG_PLACE)->certain.calls, 0);
	tag_summary_free(s);
	capture_done(&c);
}

/* Calls of a: three are certain, one is uncertain (a call of b in it has no exit), one is open. */
static void certain_uncertain_and_open_calls_are_counted_apart(void)
{
	struct capture c;
	static const uint64_t took[] = {7, 3, 5};
	uint64_t t = 0;

	capture_init(&c);
	capture_stream(&c, false, 5, 5);
	capture_packet(&c, 0);
	for (size_t i = 0; i < 3; i++) {
		capture_event(&c, t, TAG_A);
		capture_event(&c, t += took[i], EXIT(TAG_A));
	}
	capture_event(&c, t, TAG_A);
	capture_event(&c, t += 100, TAG_B);
	capture_event(&c, t += 9, EXIT(TAG_A));
	capture_event(&c, t, TAG_A);
	capture_event(&c, t += 200, TAG_C);
	capture_event(&c, t += 11, TAG_PLACE);
	struct tag_summary *s = sum_up(&c, NULL);
	const struct tag_function *a = function_of(s, 0, TAG_A), *b = function_of(s, 0, TAG_B);

	CHECK_EQ(a->calls, 5);
	CHECK_EQ(a->ended, 4);
	CHECK_EQ(a->open, 1);
	CHECK_EQ(a->uncertain.calls, 1);
	CHECK_EQ(a->certain.calls, 3);
	CHECK_EQ(a->certain.net.sum, 15);
	CHECK_EQ(a->certain.net.min, 3);
	CHECK_EQ(a->certain.net.max, 7);
	CHECK_EQ(a->net, 15 + 100 + 200);
	CHECK_EQ(b->calls, 1);
	CHECK_EQ(b->ended, 0);
	CHECK_EQ(b->unseen, 1);
	CHECK_EQ(b->uncertain.calls, 1);
	CHECK_EQ(b->uncertain.net.min, 9);
	CHECK_EQ(b->uncertain.net.max, 9);
	CHECK_EQ(function_of(s, 0, TAG_C)->net, 11);
	CHECK_EQ(function_of(s, 0, TAG_C)->certain.calls, 0); /* its time is not complete */
	CHECK_EQ(function_of(s, 0, TAG_C)->uncertain.calls, 0);
	CHECK_EQ(s->damage.missing_exits, 1);
	tag_summary_free(s);
	capture_done(&c);
}

static void idle_is_recognised_by_its_kind(void)
{
	struct capture c;
	const struct tag_summary_options wall = {.wall = true};

	capture_init(&c);
	capture_stream(&c, false, 5, 5);
	capture_packet(&c, 0);
	capture_event(&c, 0, TAG_PLACE);
	capture_event(&c, 4, TAG_A);
	capture_event(&c, 10, ASSAY_TAG_SWITCH_BLOCKED);
	capture_event(&c, 40, ASSAY_TAG_SWITCH_IN);
	capture_event(&c, 41, ASSAY_TAG_SWITCH_PREEMPTED);
	capture_event(&c, 46, ASSAY_TAG_SWITCH_IN);
	capture_event(&c, 48, EXIT(TAG_A));
	struct tag_summary *s = sum_up(&c, NULL);

	CHECK_EQ(s->tags, 3);
	CHECK_EQ(s->elapsed, 48);
	CHECK_EQ(s->blocked, 30);
	CHECK_EQ(s->preempted, 5);
	CHECK_EQ(s->idle, 35);
	CHECK_EQ(s->outside, 4);
	CHECK_EQ(s->switches, 2);
	CHECK_EQ(function_of(s, 0, TAG_A)->elapsed, 9);
	CHECK_EQ(function_of(s, 0, TAG_A)->net, 9);
	tag_summary_free(s);
	s = sum_up(&c, &wall);
	CHECK_EQ(s->idle, 0);
	CHECK_EQ(function_of(s, 0, TAG_A)->net, 44);
	tag_summary_free(s);
	capture_done(&c);
}

/* As with the original device: processes in one stream, interrupts in idle. */
static void a_device_has_idle_and_processes(void)
{
	struct capture c;
	const struct tag_summary_options wall = {.wall = true};

	capture_init(&c);
	capture_stream(&c, true, 0, 0);
	capture_packet(&c, 0);
	capture_event(&c, 0, TAG_A);
	capture_event(&c, 10, TAG_SWTCH);
	capture_event(&c, 20, TAG_C);
	capture_event(&c, 25, EXIT(TAG_C));
	capture_event(&c, 40, EXIT(TAG_SWTCH));
	capture_event(&c, 44, EXIT(TAG_A));
	capture_event(&c, 50, TAG_PLACE);
	struct tag_summary *s = sum_up(&c, NULL);

	CHECK_EQ(s->elapsed, 50);
	CHECK_EQ(s->idle, 25);
	CHECK_EQ(s->outside, 6);
	CHECK_EQ(s->processes, 1);
	CHECK_EQ(s->threads, 0);
	CHECK_EQ(s->switches, 1);
	CHECK_EQ(s->blocked, 0);
	CHECK_EQ(function_of(s, 0, TAG_A)->elapsed, 14);
	CHECK_EQ(function_of(s, 0, TAG_SWTCH)->calls, 1);
	CHECK_EQ(function_of(s, 0, TAG_SWTCH)->net, 0);
	CHECK_EQ(function_of(s, 0, TAG_SWTCH)->elapsed, 0);
	tag_summary_free(s);
	s = sum_up(&c, &wall); /* waiting is in totals, nets stay */
	CHECK_EQ(s->idle, 25);
	CHECK_EQ(function_of(s, 0, TAG_A)->elapsed, 44);
	CHECK_EQ(function_of(s, 0, TAG_A)->net, 14);
	CHECK_EQ(function_of(s, 0, TAG_SWTCH)->elapsed, 30);
	tag_summary_free(s);
	capture_done(&c);
}

/* Streams 0, 3, 6, ... have their own names, in which a is another function. */
static void make_many(struct capture *c, struct tag_names *others)
{
	for (int i = 0; i < 30; i++) {
		struct tag_stream *s = capture_stream(c, false, 100 + i / 10, 1 + i % 15);

		s->bytes = (uint64_t)(i * 7 % 11);
		if (i % 3 == 0)
			s->names = others;
		capture_packet(c, 1000);
		capture_event(c, 1000 + (uint64_t)i, TAG_A);
		capture_event(c, 1100, EXIT(TAG_A));
		capture_event(c, 1100, TAG_UNKNOWN);
		capture_event(c, 1101, EXIT(TAG_UNKNOWN));
	}
}

static void streams_are_added_up_by_names(void)
{
	struct capture c;
	struct tag_names *others = tag_names_new();
	struct tag_histogram h = {.tag = TAG_A, .names = 1};
	struct tag_summary_options options = {.histogram = &h};
	uint64_t own = 0, other = 0;

	capture_init(&c);
	tag_names_add(others, TAG_A, TAG_FUNCTION, "another", 7, NULL);
	vec_push(&c.recording.names, others);
	make_many(&c, others);
	for (uint64_t i = 0; i < 30; i++)
		*(i % 3 ? &own : &other) += 100 - i;
	struct tag_summary *s = sum_up(&c, &options);

	CHECK_EQ(s->streams, 30);
	CHECK_EQ(s->processes, 3);
	CHECK_EQ(s->threads, 30); /* no two have both the same pid and tid */
	CHECK_EQ(s->tags, 120);
	CHECK_EQ(s->first, 1000);
	CHECK_EQ(s->last, 1101);
	CHECK_EQ(s->functions.count, 3);
	CHECK_EQ(function_of(s, 0, TAG_A)->calls, 20);
	CHECK_EQ(function_of(s, 0, TAG_A)->net, own);
	CHECK_EQ(function_of(s, 0, TAG_A)->certain.net.min, 71);
	CHECK_EQ(function_of(s, 0, TAG_A)->certain.net.max, 99);
	CHECK_EQ(function_of(s, 1, TAG_A)->calls, 10);
	CHECK_EQ(function_of(s, 1, TAG_A)->net, other);
	CHECK_EQ(function_of(s, UINT32_MAX, TAG_UNKNOWN)->calls, 30);
	CHECK_EQ(s->damage.unknown_tags, 60);
	CHECK_EQ(h.count[tag_histogram_step(100)], 2); /* 100 and 97: [96, 112) */
	CHECK_EQ(h.count[tag_histogram_step(95)], 5);  /* 94 to 82: [80, 96) */
	CHECK_EQ(h.count[tag_histogram_step(79)], 3);  /* 79, 76, 73: [64, 80) */
	tag_summary_free(s);
	tag_names_free(others);
	capture_done(&c);
}

static void a_tid_in_two_records_is_one_thread(void)
{
	struct capture c;

	capture_init(&c);
	for (int i = 0; i < 4; i++) {
		capture_stream(&c, false, 9, i < 2 ? 9 : 0);
		capture_packet(&c, 10);
		capture_event(&c, 10, TAG_A);
	}
	capture_packet(&c, 20)->tid = 8;
	capture_event(&c, 25, TAG_B);
	struct tag_summary *s = sum_up(&c, NULL);

	CHECK_EQ(s->processes, 1);
	CHECK_EQ(s->threads, 4); /* 9, 8, and one for each stream without ids */
	CHECK_EQ(s->elapsed, 0); /* no time is counted between two threads */
	tag_summary_free(s);
	capture_done(&c);
}

static void steps_of_a_histogram_join(void)
{
	uint64_t low, high, before = 0;

	for (unsigned i = 0; i < 252; i++) {
		tag_histogram_bounds(i, &low, &high);
		CHECK(low == before && high > low);
		CHECK_EQ(tag_histogram_step(low), i);
		CHECK_EQ(tag_histogram_step(high - 1), i);
		before = high;
	}
	CHECK(before == UINT64_MAX);
	CHECK_EQ(tag_histogram_step(UINT64_MAX), 251);
	tag_histogram_bounds(255, &low, &high);
	CHECK(low == UINT64_MAX && high == UINT64_MAX);
}

static void deep_recursion_is_only_deep(void)
{
	struct capture c;
	const uint64_t depth = 1000000;

	capture_init(&c);
	capture_stream(&c, false, 5, 5);
	capture_packet(&c, 0);
	for (uint64_t i = 0; i < depth; i++)
		capture_event(&c, i, TAG_A);
	for (uint64_t i = 0; i < depth; i++)
		capture_event(&c, depth + i, EXIT(TAG_A));
	struct tag_summary *s = sum_up(&c, NULL);
	const struct tag_function *a = function_of(s, 0, TAG_A);

	CHECK_EQ(a->calls, depth);
	CHECK_EQ(a->elapsed, 2 * depth - 1);
	CHECK_EQ(a->net, 2 * depth - 1);
	CHECK_EQ(a->certain.net.min, 1); /* the innermost */
	CHECK_EQ(a->certain.net.max, 2);
	tag_summary_free(s);
	capture_done(&c);
}

static void no_events_are_no_time(void)
{
	struct capture c;

	capture_init(&c);
	capture_stream(&c, true, 0, 0);
	capture_stream(&c, false, 5, 5);
	capture_packet(&c, 50)->gap = true;
	struct tag_summary *s = sum_up(&c, NULL);

	CHECK_EQ(s->streams, 2);
	CHECK_EQ(s->first, 0);
	CHECK_EQ(s->last, 0);
	CHECK_EQ(s->elapsed, 0);
	CHECK_EQ(s->damage.gaps, 1);
	CHECK_EQ(s->functions.count, 0);
	CHECK_EQ(s->processes, 0);
	tag_summary_free(s);
	capture_done(&c);
}

static int fail_next(struct tag_reader *reader, struct tag_packet *packet, struct error *err)
{
	(void)reader;
	(void)packet;
	return error_set(err, EIO, "stream 3 is broken");
}

static int fail_open(struct tag_recording *r, uint32_t stream, struct tag_reader **reader,
                     struct error *err)
{
	int rc = capture_open(r, stream, reader, err);

	if (stream == 3)
		(*reader)->next = fail_next;
	return rc;
}

static void a_reader_that_fails_is_said(void)
{
	struct capture c;
	struct tag_summary *s = tag_summary_new(NULL);
	struct error err = {0};

	capture_init(&c);
	make_many(&c, c.names);
	c.recording.open = fail_open;
	CHECK_EQ(tag_summary_recording(s, &c.recording, &err), -EIO);
	CHECK_STR(err.text, "stream 3 is broken");
	tag_summary_free(s);
	capture_done(&c);
}

int main(void)
{
	RUN(recursion_is_elapsed_once);
	RUN(certain_calls_are_counted_by_their_net);
	RUN(certain_uncertain_and_open_calls_are_counted_apart);
	RUN(idle_is_recognised_by_its_kind);
	RUN(a_device_has_idle_and_processes);
	RUN(streams_are_added_up_by_names);
	RUN(a_tid_in_two_records_is_one_thread);
	RUN(steps_of_a_histogram_join);
	RUN(deep_recursion_is_only_deep);
	RUN(no_events_are_no_time);
	RUN(a_reader_that_fails_is_said);
	return check_end();
}
