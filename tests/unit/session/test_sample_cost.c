/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a sample: computed from known gaps, and measured on this machine, where it must be
 * above zero and below any plausible limit.
 */
#include "check.h"
#include "perf_data_fixture.h"
#include "session/rate/sample_cost.h"

#include <linux/perf_event.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void middle_and_quartiles(void)
{
	uint64_t gaps[] = {9000, 5000, 7000, 6000, 8000, 11000, 10000};
	struct sample_cost_figure f = {0};

	sample_cost_of_gaps(gaps, COUNT(gaps), 1000, &f);
	CHECK_EQ(f.samples, 7);
	CHECK_EQ(f.low_ns, 5000);
	CHECK_EQ(f.ns, 7000);
	CHECK_EQ(f.high_ns, 9000);
}

/* Other processes used the machine several times. */
static void stolen_time_moves_no_median(void)
{
	uint64_t gaps[40];
	struct sample_cost_figure f = {0};

	for (size_t i = 0; i < COUNT(gaps); i++)
		gaps[i] = i % 5 == 2 ? 4000000 + i : 16000 + i;
	sample_cost_of_gaps(gaps, COUNT(gaps), 50, &f);
	CHECK(f.ns > 15900 && f.ns < 16100);
	CHECK(f.high_ns < 16100);
}

static void no_sample_costs_nothing(void)
{
	uint64_t gaps[] = {10, 20, 30};
	struct sample_cost_figure f = {.ns = 5};

	sample_cost_of_gaps(gaps, COUNT(gaps), 100, &f);
	CHECK_EQ(f.ns, 1);
	sample_cost_of_gaps(gaps, 0, 100, &f);
	CHECK_EQ(f.ns, 1); /* unchanged */
}

static struct perf_event_attr clock_attr(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(struct perf_event_attr),
	                                .config = PERF_COUNT_SW_CPU_CLOCK,
	                                .freq = 1,
	                                .sample_freq = 50,
	                                .sample_type = FIXTURE_SAMPLE_TYPE,
	                                .disabled = 1,
	                                .inherit = 1,
	                                .enable_on_exec = 1,
	                                .exclude_kernel = 1,
	                                .exclude_hv = 1};
}

static void check_figure(const struct sample_cost_figure *f)
{
	CHECK(f->samples >= 8);
	CHECK(f->low_ns <= f->ns && f->ns <= f->high_ns);
	CHECK(f->ns >= 1); /* exactly 1 where other work slowed the loop down as much as samples */
	CHECK(f->ns < 1000000000); /* would fail for another unit */
}

static void a_sample_costs_time_on_this_machine(void)
{
	struct perf_event_attr attr = clock_attr();
	struct sample_cost_figure first = {0}, again = {0};
	struct error err = {0};
	struct sample_cost *c;

	if (sample_cost_open(&c, &attr, &err)) {
		CHECK(c == NULL);
		printf("# not tried: %s\n", err.text);
		return;
	}
	/* Repeats until it succeeds on a busy machine. */
	for (int i = 0; i < 500 && !first.samples; i++)
		CHECK(sample_cost_measure(c, 20000000, &first) == (first.samples > 0));
	check_figure(&first);
	for (int i = 0; i < 500 && again.ns <= 1; i++) {
		again = (struct sample_cost_figure){0};
		if (sample_cost_measure(c, 10000000, &again))
			check_figure(&again);
	}
	CHECK(again.ns > 1);
	printf("# a sample: %llu ns (%llu to %llu, of %u)\n", (unsigned long long)first.ns,
	       (unsigned long long)first.low_ns, (unsigned long long)first.high_ns, first.samples);
	sample_cost_close(c);
}

/* Larger records than pages: old records must not fill the ring permanently. */
static void with_a_copy_of_the_stack(void)
{
	struct perf_event_attr attr = clock_attr();
	struct sample_cost_figure f = {0};
	uint32_t samples = 0;
	struct error err = {0};
	struct sample_cost *c;

	attr.sample_type |= PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 32768;
	attr.exclude_callchain_user = 1;
	if (sample_cost_open(&c, &attr, &err)) {
		printf("# not tried: %s\n", err.text);
		return;
	}
	/* Each time more than the ring holds: 4. A busy machine gives the test little time. */
	for (int i = 0; i < 500 && samples < 60; i++)
		if (sample_cost_measure(c, 30000000, &f))
			samples += f.samples;
	check_figure(&f);
	CHECK(samples >= 60);
	sample_cost_close(c);
}

static void events_that_are_not_there(void)
{
	struct perf_event_attr attr = clock_attr();
	struct error err = {0};
	struct sample_cost *c;

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.config1 = 1;
	attr.sample_type = UINT64_MAX;
	CHECK(sample_cost_open(&c, &attr, &err) < 0);
	CHECK(c == NULL);
	CHECK(err.text[0]);
	sample_cost_close(NULL);
}

int main(void)
{
	RUN(middle_and_quartiles);
	RUN(stolen_time_moves_no_median);
	RUN(no_sample_costs_nothing);
	RUN(a_sample_costs_time_on_this_machine);
	RUN(with_a_copy_of_the_stack);
	RUN(events_that_are_not_there);
	return check_end();
}
