/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/shed.h"

#include "event/attr.h"

#include <string.h>

#define FLOOR_HZ 49
#define BEHIND 0.75 /* a ring this full, and the collector does not keep up */
#define CALM 0.25
#define AGAIN_NS UINT64_C(50000000) /* what was in the rings at a change says nothing of it */
#define PATIENCE_NS UINT64_C(3000000000)
#define PATIENCE_MAX_NS UINT64_C(60000000000)

static bool may_slow(const struct perf_source_event *event)
{
	return event->role == ATTR_CLOCK &&
	       (event->attr.freq || attr_is_software_clock(&event->attr));
}

static uint64_t first_period_ns(const struct perf_event_attr *attr)
{
	uint64_t period = attr_timer_period_ns(attr);

	return period ? period : UINT64_C(1000000000) / attr->sample_freq;
}

void shed_init(struct shed *s, const struct plan *plan, struct perf_source *source)
{
	*s = (struct shed){.plan = plan, .source = source, .patience_ns = PATIENCE_NS};
	vec_each (event, &plan->events) {
		unsigned most = 0;

		if (!may_slow(event))
			continue;
		while (first_period_ns(&event->attr) << (most + 1) <= 1000000000 / FLOOR_HZ)
			most++;
		if (!s->most || most < s->most)
			s->most = most;
	}
}

void shed_done(struct shed *s)
{
	vec_each (change, &s->changes)
		free(change->done_ns);
	vec_done(&s->changes);
}

/* The kernel makes a period of a software clock's frequency once and for all. */
static uint64_t value_at(const struct perf_event_attr *attr, unsigned level)
{
	if (attr_is_software_clock(attr))
		return first_period_ns(attr) << level;
	return attr->sample_freq >> level;
}

static void change(struct shed *s, unsigned level, uint64_t now_ns)
{
	struct shed_change *c = vec_add(&s->changes);

	c->level = s->level = level;
	s->changed_ns = now_ns;
	c->done_ns = xcalloc(perf_source_cpu_count(s->source), sizeof(*c->done_ns));
	for (size_t i = 0; i < s->plan->events.count; i++) {
		const struct perf_source_event *event = &s->plan->events.items[i];

		if (may_slow(event))
			perf_source_set_period(s->source, i, value_at(&event->attr, level),
			                       c->done_ns);
	}
}

static bool last_was_raise(const struct shed *s)
{
	size_t n = s->changes.count;

	return n > 1 && s->changes.items[n - 1].level < s->changes.items[n - 2].level;
}

void shed_look(struct shed *s, double fullest, bool lost, uint64_t now_ns)
{
	if (fullest > BEHIND || lost) {
		/* Raised too early: the next try comes later. */
		if (last_was_raise(s) && s->patience_ns < PATIENCE_MAX_NS)
			s->patience_ns *= 2;
		s->calm_since_ns = now_ns;
		if (s->level < s->most && now_ns - s->changed_ns > AGAIN_NS)
			change(s, s->level + 1, now_ns);
	} else if (fullest > CALM) {
		s->calm_since_ns = now_ns;
	} else if (s->level && now_ns - s->calm_since_ns > s->patience_ns) {
		s->calm_since_ns = now_ns;
		change(s, s->level - 1, now_ns);
	}
}

uint64_t shed_period(const struct shed *s, size_t event, size_t cpu, uint64_t time_ns,
                     uint64_t recorded)
{
	const struct perf_event_attr *attr = &s->plan->events.items[event].attr;
	size_t i = s->changes.count;

	if (!i || !may_slow(&s->plan->events.items[event]) || !attr_is_software_clock(attr))
		return recorded;
	while (i && s->changes.items[i - 1].done_ns[cpu] >= time_ns)
		i--;
	return first_period_ns(attr) << (i ? s->changes.items[i - 1].level : 0);
}

static uint64_t first_time(const struct shed *s, const struct shed_change *c)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < perf_source_cpu_count(s->source); i++)
		if (c->done_ns[i] && c->done_ns[i] < first)
			first = c->done_ns[i];
	return first;
}

void shed_account(const struct shed *s, struct account *account)
{
	const struct perf_source_event *slowed = NULL;

	vec_each (event, &s->plan->events)
		if (!slowed && may_slow(event))
			slowed = event;
	vec_each (c, &s->changes)
		vec_push(&account->rates,
		         (struct account_rate){first_time(s, c), first_period_ns(&slowed->attr)
		                                                         << c->level});
}
