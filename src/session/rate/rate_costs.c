/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/rate_costs.h"

#include "session/rate/record_cost.h"

#include <errno.h>

/* Assumed costs if they cannot be measured: few machines need more. */
#define SAMPLE_ASSUMED_NS 40000
#define MAPPING_ASSUMED_NS 800
#define SWITCH_ASSUMED_NS 500
#define THREAD_SWITCH_ASSUMED_NS 1000 /* with clocks that follow a thread */
#define DIRECT_ASSUMED_NS 600
#define WAIT_ASSUMED_NS 1500
#define FIRST_NS UINT64_C(16000000) /* CPU time of the first measurement of a sample */
#define AGAIN_NS UINT64_C(10000000) /* and of each later one */
/* Interval of later measurements. It doubles each time that the costs are about the same. */
#define EVERY_NS UINT64_C(60000000000)
#define EVERY_MAX_NS UINT64_C(600000000000)
/* After a doubted figure or none: each later try comes after twice this time, since on a busy
 * machine many may fail, and each uses CPU time. */
#define RETRY_NS UINT64_C(2000000000)

/* The worst of what the measurements of one time report. */
struct news {
	bool doubted, changed, missing;
};

static void cost_take(struct believed_cost *cost, int status, const struct on_off_figure *figure,
                      struct news *news)
{
	enum believed_cost_news one;

	if (status) {
		news->missing |= status == -EBUSY;
		return;
	}
	one = believed_cost_take(cost, figure);
	news->doubted |= one == BELIEVED_DOUBTED;
	news->changed |= one == BELIEVED_CHANGED;
}

static void measure_records(struct rate_costs *c, struct news *news)
{
	const struct plan *plan = c->plan;
	enum own_events_scope scope = plan->machine_wide ? OWN_CPU : OWN_THREAD;
	struct on_off_figure figure;
	struct error denied = {0};
	int status;

	vec_each (event, &plan->events) {
		if (event->role == ATTR_TRACK) {
			status = record_cost_mapping(event, &figure, &denied);
			cost_take(&c->mapping, status, &figure, news);
			if (!event->attr.context_switch)
				continue;
			status = record_cost_switch(plan, event, scope, &figure, &denied);
			cost_take(&c->switched, status, &figure, news);
			if (plan->machine_wide)
				continue;
			status = record_cost_switch(plan, event, OWN_THREADS, &figure, &denied);
			cost_take(&c->direct, status, &figure, news);
		} else if (plan->waits && event->role == ATTR_SWITCH) {
			status = record_cost_switch(plan, event, scope, &figure, &denied);
			cost_take(&c->wait, status, &figure, news);
		}
	}
}

static struct news measure(struct rate_costs *c, uint64_t for_ns)
{
	struct on_off_figure figure;
	struct news news = {0};

	if (c->probe)
		cost_take(&c->sample, sample_cost_measure(c->probe, for_ns, &figure) ? 0 : -EBUSY,
		          &figure, &news);
	measure_records(c, &news);
	return news;
}

static uint64_t doubled(uint64_t ns, uint64_t most_ns)
{
	return 2 * ns < most_ns ? 2 * ns : most_ns;
}

static void plan_next(struct rate_costs *c, const struct news *news)
{
	if (news->doubted || (news->missing && !c->every_ns))
		c->every_ns = RETRY_NS;
	else if (news->missing && c->every_ns < EVERY_NS)
		c->every_ns = doubled(c->every_ns, EVERY_NS);
	else if (news->changed || c->every_ns < EVERY_NS)
		c->every_ns = EVERY_NS;
	else
		c->every_ns = doubled(c->every_ns, EVERY_MAX_NS);
}

void rate_costs_open(struct rate_costs *c, const struct plan *plan,
                     const struct perf_source_event *clock, uint64_t now_ns)
{
	struct error denied = {0};
	struct news news;

	*c = (struct rate_costs){.plan = plan,
	                         .sample.ns = SAMPLE_ASSUMED_NS,
	                         .mapping.ns = MAPPING_ASSUMED_NS,
	                         .switched.ns = plan->machine_wide ? SWITCH_ASSUMED_NS
	                                                           : THREAD_SWITCH_ASSUMED_NS,
	                         .direct.ns = DIRECT_ASSUMED_NS,
	                         .wait.ns = WAIT_ASSUMED_NS,
	                         .measured_ns = now_ns};
	if (sample_cost_open(&c->probe, &clock->attr, &denied))
		c->probe = NULL;
	news = measure(c, FIRST_NS);
	if (news.doubted)
		news = measure(c, FIRST_NS);
	plan_next(c, &news);
}

void rate_costs_look(struct rate_costs *c, uint64_t now_ns)
{
	struct news news;

	if (now_ns - c->measured_ns <= c->every_ns)
		return;
	news = measure(c, c->sample.figure.pairs ? AGAIN_NS : FIRST_NS);
	plan_next(c, &news);
	c->measured_ns = now_ns;
}

void rate_costs_close(struct rate_costs *c)
{
	if (c)
		sample_cost_close(c->probe);
}

double rate_costs_of(const struct rate_costs *c, const struct rate_records *records)
{
	return (double)records->switches * c->switched.ns + (double)records->direct * c->direct.ns +
	       (double)records->others * c->mapping.ns + (double)records->waits * c->wait.ns;
}
