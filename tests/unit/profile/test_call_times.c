/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percentiles of the durations of calls, and when they are not known. */
#include "../lib/check.h"
#include "profile/calls/call_times.h"

#include "assay/wire.h"

#include <math.h>

/* Adds timed calls of one duration; each stands for `weight` calls. */
static void timed(struct call_times *t, double ns, uint64_t count, uint64_t weight)
{
	t->timed += count;
	t->squares += count * weight * weight;
	call_times_count(t, ns, count * weight);
}

static bool near(double value, double truth)
{
	return fabs(value - truth) <= truth / 8;
}

static void a_bucket_contains_its_middle(void)
{
	for (uint32_t bucket = 0; bucket < 488; bucket++)
		CHECK_EQ(assay_times_bucket((int64_t)call_times_middle(bucket)), bucket);
}

static void percentiles_lie_in_their_class(void)
{
	struct call_times t = {0};

	timed(&t, 1e6, 100, 1);
	timed(&t, 100, 8950, 1);
	timed(&t, 1e4, 950, 1);
	CHECK(near(call_times_percentile(&t, 0, 0.5), 100));
	CHECK(near(call_times_percentile(&t, 0, 0.9), 1e4));
	CHECK(near(call_times_percentile(&t, 0, 0.99), 1e6));
	call_times_done(&t);
}

static void merged_durations_are_those_of_both(void)
{
	struct call_times a = {0}, b = {0};

	timed(&a, 100, 100, 1);
	timed(&b, 5000, 300, 1);
	call_times_merge(&a, &b);
	CHECK_EQ(a.timed, 400);
	CHECK_EQ(a.squares, 400);
	CHECK(near(call_times_percentile(&a, 0, 0.2), 100));
	CHECK(near(call_times_percentile(&a, 0, 0.5), 5000));
	call_times_done(&a);
	call_times_done(&b);
}

static void few_calls_have_no_high_percentile(void)
{
	struct call_times t = {0};

	CHECK(isnan(call_times_percentile(&t, 0, 0.5)));
	timed(&t, 100, 1, 1);
	CHECK(isnan(call_times_percentile(&t, 0, 0.5)));
	timed(&t, 100, 98, 1);
	CHECK(near(call_times_percentile(&t, 0, 0.9), 100));
	CHECK(isnan(call_times_percentile(&t, 0, 0.99)));
	timed(&t, 100, 1, 1);
	CHECK(near(call_times_percentile(&t, 0, 0.99), 100));
	/* One call that stands for many has the information of one call. */
	timed(&t, 100, 1, 4096);
	CHECK(isnan(call_times_percentile(&t, 0, 0.5)));
	call_times_done(&t);
}

static void uncertain_durations_have_no_percentiles(void)
{
	struct call_times t = {0};

	timed(&t, 80, 100, 1);
	t.error_ns = 100 * 9;
	CHECK(near(call_times_percentile(&t, 0, 0.5), 80));
	t.error_ns = 100 * 12;
	CHECK(isnan(call_times_percentile(&t, 0, 0.5)));
	call_times_done(&t);
}

static void the_scatter_is_that_of_the_calls(void)
{
	struct call_times t = {0};

	timed(&t, 1000, 1, 1);
	CHECK(call_times_scatter(&t) == 0);
	timed(&t, 3000, 1, 1);
	CHECK(near(call_times_scatter(&t), 1000));
	timed(&t, 1000, 2, 1);
	CHECK(near(call_times_scatter(&t), 866));
	call_times_done(&t);
}

static void missed_calls_hide_percentiles_that_they_may_change(void)
{
	struct call_times t = {0};

	timed(&t, 100, 1000, 1);
	t.missed = 50;
	CHECK(near(call_times_percentile(&t, 0, 0.5), 100));
	CHECK(near(call_times_percentile(&t, 0, 0.9), 100));
	CHECK(isnan(call_times_percentile(&t, 0, 0.99)));
	CHECK(isnan(call_times_percentile(&t, 1000, 0.5)));
	/* The median lies between two classes, so five missed calls may move it to the other. */
	timed(&t, 1e5, 1000, 1);
	CHECK(isnan(call_times_percentile(&t, 0, 0.5)));
	call_times_done(&t);
}

static void calls_without_a_timed_call_are_unknown(void)
{
	struct call_times t = {0};

	CHECK_EQ(call_times_unknown(NULL, 3000), 3000);
	timed(&t, 100, 22, 1);
	CHECK_EQ(call_times_unknown(&t, 3000), 3000 - 22 - 15);
	CHECK_EQ(call_times_unknown(&t, 37), 0);
	timed(&t, 100, 10, 4096);
	CHECK_EQ(call_times_unknown(&t, 60000), 0);
	CHECK(call_times_unknown(&t, 100000) > 50000);
	call_times_done(&t);
}

int main(void)
{
	RUN(a_bucket_contains_its_middle);
	RUN(percentiles_lie_in_their_class);
	RUN(merged_durations_are_those_of_both);
	RUN(few_calls_have_no_high_percentile);
	RUN(uncertain_durations_have_no_percentiles);
	RUN(the_scatter_is_that_of_the_calls);
	RUN(missed_calls_hide_percentiles_that_they_may_change);
	RUN(calls_without_a_timed_call_are_unknown);
	return check_end();
}
