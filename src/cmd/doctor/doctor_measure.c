/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/doctor_measure.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "launch/event_cost.h"
#include "session/plan.h"
#include "session/rate/record_cost.h"
#include "session/rate/sample_cost.h"

#include <sys/utsname.h>

#define SAMPLE_NS UINT64_C(100000000) /* CPU time for each kind of sample, in a try */
#define TRIES 3
#define FREQUENCY_HZ 997
#define STACK_BYTES 32768

static void not_known(struct method_cost *cost, const char *why)
{
	cost->why = xstrdup(why);
}

static void measure_sample(const struct perf_event_attr *attr, struct method_cost *cost)
{
	struct on_off_figure figure;
	struct error err = {0};
	struct sample_cost *probe;
	bool known = false;

	if (sample_cost_open(&probe, attr, &err)) {
		not_known(cost, err.text);
		return;
	}
	for (int i = 0; i < TRIES && !known; i++)
		known = sample_cost_measure(probe, SAMPLE_NS, &figure);
	if (known)
		method_cost_set(cost, &figure);
	else
		not_known(cost, "the machine is too busy");
	sample_cost_close(probe);
}

/* The events of `assay record` with these options. */
static void of_plan(const struct session_options *o, struct method_costs *costs,
                    enum method_cost_kind kind)
{
	struct method_cost *cost = &costs->items[kind];
	struct plan plan = {0};
	struct error err = {0};

	if (plan_make(&plan, o, &err)) {
		not_known(cost, err.text);
	} else {
		if (!costs->clock)
			costs->clock = xstrdup(plan.events.items[0].name);
		measure_sample(&plan.events.items[0].attr, cost);
	}
	plan_done(&plan);
}

/* The two records of a switch. */
static void measure_switch(const struct session_options *o, struct method_cost *cost)
{
	struct plan plan = {0};
	struct error err = {0};
	struct on_off_figure figure;

	if (plan_make(&plan, o, &err) ||
	    record_cost_switch(&plan, &plan.events.items[plan.events.count - 1],
	                       plan.machine_wide ? OWN_CPU : OWN_THREAD, &figure, &err)) {
		not_known(cost, err.text);
	} else {
		method_cost_set(cost, &figure);
		cost->ns *= 2;
		cost->low_ns *= 2;
		cost->high_ns *= 2;
	}
	plan_done(&plan);
}

static void measure_event(int (*measure)(struct method_cost *, struct error *),
                          struct method_cost *cost)
{
	struct error err = {0};

	if (measure(cost, &err))
		not_known(cost, err.text);
}

void doctor_measure(struct method_costs *costs)
{
	struct session_options o = {.frequency_hz = FREQUENCY_HZ, .machine_wide = true};
	struct utsname host;

	uname(&host);
	*costs = (struct method_costs){.wall_ns = clock_ns(CLOCK_REALTIME),
	                               .host = xstrdup(host.nodename),
	                               .kernel = xasprintf("%s %s", host.sysname, host.release)};
	of_plan(&o, costs, COST_SAMPLE);
	measure_switch(&o, &costs->items[COST_SWITCH]);
	o.user_callchain = true;
	of_plan(&o, costs, COST_SAMPLE_CHAIN);
	o.unwind = true;
	o.stack_bytes = STACK_BYTES;
	of_plan(&o, costs, COST_SAMPLE_STACK);
	measure_event(event_cost_call, &costs->items[COST_CALL]);
	measure_event(event_cost_tag, &costs->items[COST_TAG]);
}
