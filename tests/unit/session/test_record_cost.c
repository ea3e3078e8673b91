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

static struct perf_source_event clock_event(void)
{
	return (struct perf_source_event){.role = ATTR_CLOCK,
	                                  .attr = {.type = PERF_TYPE_SOFTWARE,
	                                           .size = sizeof(struct perf_event_attr),
	                                           .config = PERF_COUNT_SW_CPU_CLOCK,
	                                           .sample_period = 1003009,
	                                           .sample_type = FIXTURE_SAMPLE_TYPE,
	                                           .exclude_kernel = 1,
	                                           .exclude_hv = 1}};
}

/* `scope` -1: of a mapping. */
static int measure(const struct plan *plan, int scope, struct on_off_figure *f, struct error *err)
{
	const struct perf_source_event *event = &plan->events.items[1];

	return scope < 0 ? record_cost_mapping(event, f, err)
	                 : record_cost_switch(plan, event, (enum own_events_scope)scope, f, err);
}

static void check_cost(const char *name, int scope, const struct plan *plan)
{
	struct on_off_figure f = {.ns = 12345};
	struct error err = {0};
	int status = -EBUSY;

	/* Repeats until it succeeds on a busy machine. */
	for (int i = 0; i < 100 && status == -EBUSY; i++)
		status = measure(plan, scope, &f, &err);
	if (status) {
		CHECK_EQ(f.ns, 12345);
		CHECK(err.text[0]);
		printf("# not tried: %s\n", err.text);
		return;
	}
	CHECK(f.ns >= 1 && f.ns < 10000000 && f.pairs >= 8);
	printf("# %s: %.0f ns (%zu pairs)\n", name, f.ns, f.pairs);
}

static void records_cost_time(void)
{
	struct perf_source_event track = {.role = ATTR_TRACK, .attr = tracking_attr()};
	struct plan plan = {0};

	vec_push(&plan.events, clock_event());
	vec_push(&plan.events, track);
	check_cost("a mapping", -1, &plan);
	check_cost("a switch of a thread", OWN_THREAD, &plan);
	check_cost("a switch between two threads", OWN_THREADS, &plan);
	check_cost("a switch of a CPU", OWN_CPU, &plan);
	vec_done(&plan.events);
}

static void an_event_without_information(void)
{
	struct perf_source_event track = {.role = ATTR_TRACK, .attr = tracking_attr()};
	struct on_off_figure f = {.ns = 12345};
	struct plan plan = {0};
	struct error err = {0};

	track.attr.comm = track.attr.task = track.attr.mmap = track.attr.mmap2 = 0;
	track.attr.context_switch = 0;
	CHECK(record_cost_mapping(&track, &f, &err) < 0);
	CHECK_EQ(f.ns, 12345);
	CHECK(strstr(err.text, "cannot be measured"));
	err.text[0] = 0;
	CHECK(record_cost_switch(&plan, &track, OWN_THREAD, &f, &err) < 0);
	CHECK_EQ(f.ns, 12345);
	CHECK(strstr(err.text, "cannot be measured"));
}

int main(void)
{
	RUN(records_cost_time);
	RUN(an_event_without_information);
	return check_end();
}
