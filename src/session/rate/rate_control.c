/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/rate_control.h"

#include "base/clock.h"
#include "event/attr.h"
#include "session/rate/budget.h"
#include "session/rate/rate_costs.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define FLOOR_HZ 49
#define BEHIND 0.75 /* a fuller ring shows that the recorder falls behind */
#define CALM 0.25
#define AGAIN_NS UINT64_C(50000000) /* time after a change until the rings show its effect */
#define PATIENCE_NS UINT64_C(3000000000)
#define PATIENCE_MAX_NS UINT64_C(60000000000)

/* If the main clock is slowed, the witness stays this many times slower, as in plan.c. */
#define WITNESS_TIMES 8.618
#define LOOK_EVERY_NS UINT64_C(900000000)
/* Interval of checks while the cost of the set-up is paid off. */
#define LOOK_EARLY_NS UINT64_C(400000000)
/* The time between checks, and while the share is below this part of the budget. */
#define REST_MS 1000
#define REST_CALM_MS 2000
#define CALM_PART 0.7
#define LOOK_LEAST_NS UINT64_C(50000000) /* minimum length of the last check */
/* Assumed CPU time after sampling: the end of the file, and the data that is written at the end. */
#define END_ASSUMED_NS 5000000
/* So many checks above the budget at the lowest rate stop the samples of --waits. */
#define WAITS_CHECKS 3

struct rate_control_bound {
	struct budget control;
	struct rate_costs costs;
	uint64_t looked_ns, cpu_ns;
	struct rate_records records; /* at the last check */
	unsigned over;               /* checks in a row above the budget, at the lowest rate */
	double share;
};

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

/* The event whose rate all others follow; NULL: no event can be slowed. */
static const struct perf_source_event *main_clock(const struct rate_control *s)
{
	vec_each (event, &s->plan->events)
		if (may_slow(event))
			return event;
	return NULL;
}

void rate_control_init(struct rate_control *s, const struct plan *plan, struct perf_source *source)
{
	*s = (struct rate_control){.plan = plan,
	                           .source = source,
	                           .stretch = 1,
	                           .behind = 1,
	                           .patience_ns = PATIENCE_NS};
	vec_each (event, &plan->events) {
		double most;

		if (!may_slow(event))
			continue;
		most = 1e9 / FLOOR_HZ / (double)first_period_ns(&event->attr);
		if (s->most == 0 || most < s->most)
			s->most = most;
	}
}

void rate_control_done(struct rate_control *s)
{
	vec_each (change, &s->changes)
		free(change->done_ns);
	vec_done(&s->changes);
	if (s->bound)
		rate_costs_close(&s->bound->costs);
	free(s->bound);
}

static bool changes_with(const struct perf_source_event *event)
{
	return may_slow(event) || event->role == ATTR_WITNESS;
}

static uint64_t period_at(const struct rate_control *s, const struct perf_source_event *event,
                          double stretch)
{
	uint64_t first = first_period_ns(&event->attr), least;

	if (event->role != ATTR_WITNESS)
		return (uint64_t)llround((double)first * stretch);
	least = (uint64_t)(WITNESS_TIMES * (double)period_at(s, main_clock(s), stretch));
	return stretch > 1 && least > first ? least : first;
}

/* The kernel converts the frequency of a software clock to a period once, so the period is set. */
static uint64_t value_at(const struct rate_control *s, const struct perf_source_event *event,
                         double stretch)
{
	double hz = (double)event->attr.sample_freq / stretch;

	if (attr_is_software_clock(&event->attr))
		return period_at(s, event, stretch);
	return hz < 1 ? 1 : (uint64_t)hz;
}

/* Adds the time since the last change, if the rate was lowered. */
static void add_slowed(const struct rate_control *s, uint64_t now_ns, uint64_t slowed_ns[2])
{
	if (s->stretch > 1 && s->changes.count && now_ns > s->changed_ns)
		slowed_ns[vec_last(&s->changes)->budget] += now_ns - s->changed_ns;
}

static uint64_t first_time(const struct rate_control *s, const struct rate_control_change *c)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < perf_source_cpu_count(s->source); i++)
		if (c->done_ns[i] && c->done_ns[i] < first)
			first = c->done_ns[i];
	return first;
}

/* Merges two changes: the first one lasts until `end_ns`, with the mean rate of both. */
static void merge_pair(struct rate_control *s, struct rate_control_change *first,
                       struct rate_control_change *second, uint64_t end_ns)
{
	uint64_t middle_ns = first_time(s, second);
	double before = (double)(middle_ns - first_time(s, first));
	double after = (double)(end_ns - middle_ns);

	first->stretch = (before + after) / (before / first->stretch + after / second->stretch);
	if (after > before)
		first->budget = second->budget;
	first->changes += second->changes;
	first->slowed += second->slowed;
	first->slowest = fmax(first->slowest, second->slowest);
	free(second->done_ns);
	s->merged++;
}

/* All records of that time were read, so rate_control_period() no longer needs the exact rates. */
static void merge_oldest(struct rate_control *s)
{
	struct rate_control_change *c = s->changes.items;
	size_t kept = 0;

	for (size_t i = 0; i < s->changes.count; i++) {
		c[kept] = c[i];
		if (i < SHED_CHANGES_MAX / 2) {
			merge_pair(s, &c[kept], &c[i + 1], first_time(s, &c[i + 2]));
			i++;
		}
		kept++;
	}
	s->changes.count = kept;
}

/* Applies the rate that the rings or the budget request. */
static void settle(struct rate_control *s, uint64_t now_ns)
{
	double bound = s->bound ? s->bound->control.asked_hz / s->bound->control.hz : 1;
	double stretch = fmax(s->behind, bound);
	struct rate_control_change *c;

	if (stretch == s->stretch)
		return;
	add_slowed(s, now_ns, s->slowed_ns);
	if (s->changes.count == SHED_CHANGES_MAX)
		merge_oldest(s);
	c = vec_add(&s->changes);
	c->budget = bound >= s->behind;
	c->changes = 1;
	c->slowed = !c->budget && stretch > s->stretch;
	c->slowest = c->slowed ? stretch : 0;
	c->stretch = s->stretch = stretch;
	c->done_ns = xcalloc(perf_source_cpu_count(s->source), sizeof(*c->done_ns));
	s->changed_ns = now_ns;
	for (size_t i = 0; i < s->plan->events.count; i++) {
		const struct perf_source_event *event = &s->plan->events.items[i];

		if (changes_with(event))
			perf_source_set_period(s->source, i, value_at(s, event, stretch),
			                       c->done_ns);
	}
}

static bool last_was_raise(const struct rate_control *s)
{
	size_t n = s->changes.count;

	return n > 1 && s->changes.items[n - 1].stretch < s->changes.items[n - 2].stretch;
}

static void look_at_rings(struct rate_control *s, double fullest, bool lost, uint64_t now_ns)
{
	if (fullest > BEHIND || lost) {
		/* The raise was too early: the next raise comes later. */
		if (last_was_raise(s) && s->patience_ns < PATIENCE_MAX_NS)
			s->patience_ns *= 2;
		s->calm_since_ns = now_ns;
		if (2 * s->stretch <= s->most && now_ns - s->changed_ns > AGAIN_NS)
			s->behind = 2 * s->stretch;
	} else if (fullest > CALM) {
		s->calm_since_ns = now_ns;
	} else if (s->behind > 1 && now_ns - s->calm_since_ns > s->patience_ns) {
		s->calm_since_ns = now_ns;
		s->behind = fmax(s->behind / 2, 1);
	}
}

/* Maximum number of samples per second on a CPU; idle CPUs are sampled too. */
static double samples_each_second(const struct rate_control *s)
{
	double sum = 0;

	vec_each (event, &s->plan->events)
		if (changes_with(event))
			sum += 1e9 / (double)period_at(s, event, s->stretch);
	return sum;
}

void rate_control_budget(struct rate_control *s, double share)
{
	const struct perf_source_event *clock = main_clock(s);
	struct rate_control_bound *b;

	s->unbound = !clock;
	if (!clock)
		return;
	b = s->bound = xcalloc(1, sizeof(*b));
	b->share = share;
	rate_costs_open(&b->costs, s->plan, clock, clock_ns(CLOCK_MONOTONIC));
}

static char *too_short(const struct rate_control_bound *b, double set_up_ns, double duration_ns)
{
	double from_s = budget_keeps_from_ns(&b->control) / 1e9, percent = 100 * b->share;

	/* A budget is a share of seconds: shorter recordings are no surprise. */
	if (duration_ns <= 0 && from_s < 1)
		return NULL;
	if (duration_ns <= 0)
		return xasprintf("A recording of less than %.1f s uses more than the budget of "
		                 "%.4g %% of a CPU: the set-up used %.1f ms of CPU time.",
		                 from_s, percent, set_up_ns / 1e6);
	if (duration_ns >= from_s * 1e9 * (1 - 1e-9))
		return NULL;
	return xasprintf("The budget of %.4g %% of a CPU cannot be kept in %.4g s: the set-up used "
	                 "%.1f ms of CPU time. A recording of %.0f s or more keeps it, or a budget "
	                 "of %.2g %%.",
	                 percent, duration_ns / 1e9, set_up_ns / 1e6, ceil(from_s),
	                 percent * from_s * 1e9 / duration_ns);
}

static uint64_t own_cpu_ns(const struct rate_control *s)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + foreign_cpu_ns(s->foreign);
}

char *rate_control_begin(struct rate_control *s, uint64_t cpu_ns, uint64_t duration_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct rate_control_bound *b = s->bound;
	struct budget_start start;

	if (!b)
		return NULL;
	/* Includes the witness. If stacks are walked, this takes about as long again. */
	start = (struct budget_start){
	        .share = b->share,
	        .asked_hz = 1e9 / (double)first_period_ns(&main_clock(s)->attr),
	        .sample_ns =
	                b->costs.sample.ns * (1 + 1 / WITNESS_TIMES) * (s->plan->unwind ? 2 : 1),
	        .set_up_ns = cpu_ns ? ((double)cpu_ns + END_ASSUMED_NS) /
	                                      (double)perf_source_cpu_count(s->source)
	                            : 0,
	        .duration_ns = (double)duration_ns};
	budget_begin(&b->control, &start);
	b->looked_ns = now_ns;
	b->records = s->records;
	b->cpu_ns = own_cpu_ns(s);
	settle(s, now_ns);
	return cpu_ns ? too_short(b, (double)cpu_ns + END_ASSUMED_NS, (double)duration_ns) : NULL;
}

/* Returns the cost since the last check, and starts the next interval. */
static struct budget_load load_since(struct rate_control *s, uint64_t now_ns)
{
	struct rate_control_bound *b = s->bound;
	uint64_t cpu_ns = own_cpu_ns(s), cpus = perf_source_cpu_count(s->source);
	struct budget_load load = {.elapsed_ns = now_ns - b->looked_ns,
	                           .hz = b->control.asked_hz / s->stretch};

	load.sampling = samples_each_second(s) * b->costs.sample.ns / 1e9;
	load.own = ((double)(cpu_ns - b->cpu_ns) + rate_costs_of(&b->costs, &s->records) -
	            rate_costs_of(&b->costs, &b->records)) /
	           (double)(load.elapsed_ns * cpus);
	b->records = s->records;
	b->looked_ns = now_ns;
	b->cpu_ns = cpu_ns;
	return load;
}

bool rate_control_is_wait(const struct perf_source_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT &&
	       (event->role == ATTR_SWITCH || event->role == ATTR_WAKE);
}

/*
 * The number of switches and wake-ups is not the recorder's choice, and each belongs to another: a
 * part of them would tell nothing. If the clock's lowest rate is not enough, all of them end.
 */
static void look_at_waits(struct rate_control *s, const struct budget_load *load, uint64_t now_ns)
{
	struct rate_control_bound *b = s->bound;
	double least = fmin(b->control.asked_hz, BUDGET_FLOOR_HZ);
	bool over = load->sampling + load->own > b->control.share && load->hz <= least * 1.01;

	b->over = over ? b->over + 1 : 0;
	if (!s->plan->waits || s->waits_end_ns || b->over < WAITS_CHECKS)
		return;
	for (size_t i = 0; i < s->plan->events.count; i++)
		if (rate_control_is_wait(&s->plan->events.items[i]))
			perf_source_stop(s->source, i);
	s->waits_end_ns = now_ns;
}

static void look_at_budget(struct rate_control *s, uint64_t now_ns)
{
	struct rate_control_bound *b = s->bound;
	struct budget_load load;

	if (now_ns < b->looked_ns + (b->control.debt_ns > 0 ? LOOK_EARLY_NS : LOOK_EVERY_NS))
		return;
	load = load_since(s, now_ns);
	budget_look(&b->control, &load);
	look_at_waits(s, &load, now_ns);
	rate_costs_look(&b->costs, now_ns);
}

int rate_control_rest_ms(const struct rate_control *s)
{
	const struct budget *b = s->bound ? &s->bound->control : NULL;

	if (!b)
		return INT_MAX;
	return b->debt_ns <= 0 && b->last > 0 && b->last < CALM_PART * b->share ? REST_CALM_MS
	                                                                        : REST_MS;
}

void rate_control_finish(struct rate_control *s, uint64_t now_ns)
{
	struct budget_load load;

	if (!s->bound || !s->bound->looked_ns || now_ns < s->bound->looked_ns + LOOK_LEAST_NS)
		return;
	load = load_since(s, now_ns);
	budget_look(&s->bound->control, &load);
}

void rate_control_look(struct rate_control *s, double fullest, bool lost, uint64_t now_ns)
{
	look_at_rings(s, fullest, lost, now_ns);
	if (s->bound)
		look_at_budget(s, now_ns);
	settle(s, now_ns);
}

uint64_t rate_control_period(const struct rate_control *s, size_t event, size_t cpu,
                             uint64_t time_ns, uint64_t recorded)
{
	const struct perf_source_event *e = &s->plan->events.items[event];
	size_t i = s->changes.count;

	if (!i || !changes_with(e) || !attr_is_software_clock(&e->attr))
		return recorded;
	while (i && s->changes.items[i - 1].done_ns[cpu] >= time_ns)
		i--;
	return period_at(s, e, i ? s->changes.items[i - 1].stretch : 1);
}

static void note_merged(const struct rate_control *s, struct account *account)
{
	if (s->merged)
		vec_push(&account->notes,
		         xasprintf("The rate changed %" PRIu64 " times: older changes are merged, "
		                   "with the mean rate of each stretch. Until the last change the "
		                   "rate "
		                   "was lower for %.1f s because of the budget and for %.1f s "
		                   "because the recorder fell behind.",
		                   s->merged + s->changes.count, (double)s->slowed_ns[1] / 1e9,
		                   (double)s->slowed_ns[0] / 1e9));
}

/* ns of a record that is not a sample: the mean of all. Before there are any, of a switch. */
static uint64_t record_ns(const struct rate_control_bound *b)
{
	struct rate_records r = b->records;
	uint64_t count = r.switches + r.direct + r.others + r.waits;

	return (uint64_t)llround(count ? rate_costs_of(&b->costs, &r) / (double)count
	                               : b->costs.switched.ns);
}

static void account_budget(const struct rate_control_bound *b, struct account_budget *a)
{
	const struct believed_cost *sample = &b->costs.sample;
	const struct budget *c = &b->control;

	*a = (struct account_budget){
	        .share_ppm = (uint64_t)llround(c->share * 1e6),
	        .cost_ns = (uint64_t)llround(sample->ns),
	        .cost_low_ns = (uint64_t)llround(fmax(sample->figure.low_ns, 0)),
	        .cost_high_ns = (uint64_t)llround(fmax(sample->figure.high_ns, 0)),
	        .cost_samples = sample->figure.pairs,
	        .record_ns = record_ns(b),
	        .looked_ns = c->looked_ns,
	        .over_ns = c->over_ns,
	        .most_ppm = (uint64_t)llround(c->most * 1e6),
	};
	if (c->looked_ns)
		a->spent_ppm = (uint64_t)llround((c->set_up_ns + c->spent_ns) /
		                                 (double)c->looked_ns * 1e6);
}

void rate_control_account(const struct rate_control *s, struct account *account)
{
	const struct perf_source_event *slowed = main_clock(s);

	vec_each (c, &s->changes) {
		struct account_rate *rate = vec_add(&account->rates);

		*rate = (struct account_rate){.time_ns = first_time(s, c),
		                              .period_ns = period_at(s, slowed, c->stretch),
		                              .budget = c->budget};
		if (!s->merged)
			continue;
		rate->changes = c->changes;
		rate->slowed = c->slowed;
		rate->slowest_ns = c->slowed ? period_at(s, slowed, c->slowest) : 0;
	}
	note_merged(s, account);
	if (s->bound)
		account_budget(s->bound, &account->budget);
	if (s->waits_end_ns)
		vec_push(&account->notes,
		         xasprintf("Wakers: not available from %.1f s on. The budget did not "
		                   "suffice for the switches and wake-ups, so their samples ended.",
		                   (double)(s->waits_end_ns - account->start_ns) / 1e9));
	if (s->unbound)
		vec_push(&account->notes,
		         xstrdup("The budget was not applied: the sampled event is neither a clock "
		                 "nor "
		                 "a counter with a frequency, of which there could be fewer "
		                 "samples."));
}

static void status_budget(const struct rate_control_bound *b, struct session_status *status)
{
	account_budget(b, &status->budget);
	status->budget_spent_ns = (uint64_t)llround(b->control.spent_ns);
	status->budget_recent_ppm = (uint64_t)llround(b->control.recent * 1e6);
}

void rate_control_restart(struct rate_control *s)
{
	if (s->bound)
		s->bound->control.recent = 0;
}

void rate_control_status(const struct rate_control *s, struct session_status *status)
{
	const struct perf_source_event *clock = main_clock(s);
	uint64_t slowed_ns[2] = {s->slowed_ns[0], s->slowed_ns[1]};

	add_slowed(s, status->now_ns, slowed_ns);
	status->slowed_behind_ns = slowed_ns[0];
	status->slowed_budget_ns = slowed_ns[1];
	if (s->bound)
		status_budget(s->bound, status);

	if (clock && status->period_ns)
		status->period_ns = period_at(s, clock, s->stretch);
	if (s->bound && s->bound->costs.sample.figure.pairs)
		status->sample_cost_ns = (uint64_t)llround(s->bound->costs.sample.ns);
}
