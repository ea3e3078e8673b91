/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ticks against CLOCK_MONOTONIC_RAW: the kernel's own clock is the truth.
 */
#include "linux/clock.h"

#include "assay_port.h"
#include "check.h"
#include "clock_fixture.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>

struct moment {
	uint64_t ns, ticks;
};

/* Reads both clocks: of twenty readings, the one with the shortest interval. */
static struct moment moment_now(void)
{
	struct moment best = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = port_clock(), ns = clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t took = port_clock() - before;

		if (took < least) {
			least = took;
			best = (struct moment){ns, before + took / 2};
		}
	}
	return best;
}

/* The rate over 300 ms, by readings of the test itself. */
static double true_rate(void)
{
	struct moment from = moment_now(), to;

	doze(300000000);
	to = moment_now();
	return (double)(to.ticks - from.ticks) / (double)(to.ns - from.ns);
}

static void a_young_rate_is_good_to_a_thousandth(void)
{
	double truth = true_rate(), worst = 0;

	for (int i = 0; i < 20; i++) {
		struct clock_rate c = {0};
		double rate;

		clock_begin(&c);
		rate = (double)clock_span_ticks(&c, 1000000000) / 1e9;
		if (fabs(rate / truth - 1) > worst)
			worst = fabs(rate / truth - 1);
		CHECK(c.latest.ns > c.first.ns && c.latest.ticks > c.first.ticks);
	}
	printf("# worst of 20 young rates is off by %.1e\n", worst);
	/*
	 * A moment that is interrupted between all its readings is inexact; a rate of 0 never
	 * occurs.
	 */
	CHECK(worst < 2e-3);
}

static void spans_convert_there_and_back(void)
{
	struct clock_rate c = {.first = {.ticks = 5000, .ns = 1000}};
	uint64_t spans[] = {0, 1, 999, 1000000, 3600ull * 1000000000, 1ull << 62};

	clock_begin(&c);
	for (unsigned i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		uint64_t back = clock_span_ns(&c, clock_span_ticks(&c, spans[i]));
		double off = (double)back - (double)spans[i];

		CHECK(fabs(off) <= 2 + (double)spans[i] * 1e-9);
	}
	CHECK_EQ(clock_ticks_of(&c, c.latest.ns), c.latest.ticks);
	CHECK_EQ(clock_ticks_of(&c, c.latest.ns + 5000) - c.latest.ticks,
	         clock_span_ticks(&c, 5000));
	CHECK_EQ(c.latest.ticks - clock_ticks_of(&c, c.latest.ns - 5000),
	         clock_span_ticks(&c, 5000));
}

static void notes_refine_and_keep_their_distance(void)
{
	struct clock_rate c = {0};
	struct assay_calls_moment before;
	double truth;

	clock_begin(&c);
	doze(120000000);
	clock_note(&c);
	before = c.latest;
	CHECK(before.ns - c.first.ns >= 120000000);
	clock_note(&c); /* at once: 100 ms have not passed yet */
	CHECK_EQ(c.latest.ns, before.ns);
	truth = true_rate();
	clock_note(&c);
	CHECK(c.latest.ns - before.ns >= 300000000);
	CHECK(fabs((double)clock_span_ticks(&c, 1000000000) / 1e9 / truth - 1) < 1e-4);
}

static void a_moment_lies_between_readings_around_it(void)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t ns = clock_ns(CLOCK_MONOTONIC_RAW), ticks = port_clock();
		struct assay_calls_moment m = clock_now(1 + i % 9);

		CHECK(m.ticks >= ticks && m.ticks <= port_clock());
		CHECK(m.ns >= ns && m.ns <= clock_ns(CLOCK_MONOTONIC_RAW));
	}
}

static void errno_of_the_program_is_unchanged(void)
{
	struct clock_rate c = {0};

	errno = 4711;
	clock_begin(&c);
	clock_note(&c);
	clock_thread_cpu_ns();
	CHECK_EQ(errno, 4711);
}

static struct clock_rate shared;
static bool stop;

static void *read_on(void *unused)
{
	long torn = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct assay_calls_moment m = clock_latest(&shared);

		torn += m.ticks != 2 * m.ns;
	}
	return (void *)torn;
}

/* Writes like clock_note(), at full speed: readers get consistent values. */
static void a_reader_sees_moments_whole(void)
{
	pthread_t reader;
	void *torn;

	pthread_create(&reader, NULL, read_on, NULL);
	for (uint64_t i = 1; i < 300000; i++) {
		uint32_t sequence = shared.sequence;

		__atomic_store_n(&shared.sequence, sequence + 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&shared.latest.ticks, 2 * i, __ATOMIC_RELAXED);
		__atomic_store_n(&shared.latest.ns, i, __ATOMIC_RELAXED);
		__atomic_store_n(&shared.sequence, sequence + 2, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(reader, &torn);
	CHECK_EQ((long)torn, 0);
}

static void the_cpu_clock_stops_during_sleep(void)
{
	uint64_t cpu = clock_thread_cpu_ns(), truth = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	doze(200000000);
	CHECK(truth - cpu < 100000000);
	CHECK(clock_thread_cpu_ns() - cpu < 100000000);
}

int main(void)
{
	RUN(a_young_rate_is_good_to_a_thousandth);
	RUN(spans_convert_there_and_back);
	RUN(notes_refine_and_keep_their_distance);
	RUN(a_moment_lies_between_readings_around_it);
	RUN(errno_of_the_program_is_unchanged);
	RUN(a_reader_sees_moments_whole);
	RUN(the_cpu_clock_stops_during_sleep);
	return check_end();
}
