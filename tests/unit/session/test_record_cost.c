/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a tracking record: for an event that reports mappings it is above zero and below the
 * cost of a sample; an event without such records has none.
 */
#include "check.h"
#include "perf_data_fixture.h"
#include "session/rate/record_cost.h"

#include <errno.h>
#include <linux/perf_event.h>

static struct perf_event_attr tracking_attr(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(struct perf_event_attr),
	                                .config = PERF_COUNT_SW_DUMMY,
	                                .sample_period = 1,
	                                .sample_type = FIXTURE_SAMPLE_TYPE,
	                                .sample_id_all = 1,
	                                .inherit = 1,
	                                .exclude_kernel = 1,
	                                .exclude_hv = 1,
	                                .comm = 1,
	                                .task = 1,
	                                .mmap = 1,
	                                .mmap2 = 1,
	                                .context_switch = 1};
}

static void the_cost_of_a_record_is_plausible(void)
{
	struct perf_event_attr attr = tracking_attr();
	uint64_t ns = 12345;
	struct error err = {0};
	int status = record_cost_measure(&attr, &ns, &err);

	if (status) {
		CHECK_EQ(ns, 12345);
		CHECK(err.text[0]);
		printf("# not tried: %s\n", err.text);
		return;
	}
	CHECK(ns >= 1 && ns < 10000000);
	printf("# a record: %llu ns\n", (unsigned long long)ns);
}

static void a_switch_costs_time(void)
{
	struct perf_event_attr attr = tracking_attr();
	uint64_t ns = 12345;
	struct error err = {0};
	int status = record_cost_switch(&attr, &ns, &err);

	if (status) {
		CHECK_EQ(ns, 12345);
		CHECK(err.text[0]);
		printf("# not tried: %s\n", err.text);
		return;
	}
	CHECK(ns >= 1 && ns < 10000000);
	printf("# a switch: %llu ns\n", (unsigned long long)ns);
}

static void an_event_without_information(void)
{
	struct perf_event_attr attr = tracking_attr();
	uint64_t ns = 12345;
	struct error err = {0};

	attr.comm = attr.task = attr.mmap = attr.mmap2 = attr.context_switch = 0;
	CHECK(record_cost_measure(&attr, &ns, &err) < 0);
	CHECK_EQ(ns, 12345);
	CHECK(strstr(err.text, "cannot be measured"));
	err.text[0] = 0;
	CHECK(record_cost_switch(&attr, &ns, &err) < 0);
	CHECK_EQ(ns, 12345);
	CHECK(strstr(err.text, "cannot be measured"));
}

int main(void)
{
	RUN(the_cost_of_a_record_is_plausible);
	RUN(a_switch_costs_time);
	RUN(an_event_without_information);
	return check_end();
}
