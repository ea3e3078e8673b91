/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a sample, measured on this machine: it must be above zero and below any plausible
 * limit.
 */
#include "check.h"
#include "perf_data_fixture.h"
#include "session/rate/sample_cost.h"

#include <linux/perf_event.h>

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

static void check_figure(const struct on_off_figure *f)
{
	CHECK(f->pairs >= 8);
	CHECK(f->low_ns <= f->ns && f->ns <= f->high_ns);
	CHECK(f->ns >= 100 && f->ns < 1000000000); /* would fail for another unit */
}

/*
 * A busy machine gives the test little time, and other work there moves the figure. If the figure
 * is not precise after all tries, its interval says so.
 */
static void measure(struct perf_event_attr attr, unsigned times)
{
	unsigned before = times;
	struct on_off_figure f = {0};
	struct error err = {0};
	struct sample_cost *c;

	if (sample_cost_open(&c, &attr, &err)) {
		CHECK(c == NULL);
		printf("# not tried: %s\n", err.text);
		return;
	}
	for (int i = 0; i < 150 && times; i++) {
		if (!sample_cost_measure(c, 20000000, &f))
			continue;
		check_figure(&f);
		times--;
	}
	/*
	 * Noise that is larger than any cost of a sample is a reason, and so is other work that
	 * begins after the first figure and leaves too few pieces undisturbed.
	 */
	CHECK(!times || (!on_off_precise(&f) && f.high_ns - f.low_ns > 10000) ||
	      (times < before && f.pairs < 8));
	printf("# a sample: %.0f ns (%.0f to %.0f, of %zu)\n", f.ns, f.low_ns, f.high_ns, f.pairs);
	sample_cost_close(c);
}

static void a_sample_costs_time_on_this_machine(void)
{
	measure(clock_attr(), 2);
}

/* Larger records than pages: old records must not fill the ring permanently. */
static void with_a_copy_of_the_stack(void)
{
	struct perf_event_attr attr = clock_attr();

	attr.sample_type |= PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 32768;
	attr.exclude_callchain_user = 1;
	measure(attr, 3);
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
	RUN(a_sample_costs_time_on_this_machine);
	RUN(with_a_copy_of_the_stack);
	RUN(events_that_are_not_there);
	return check_end();
}
