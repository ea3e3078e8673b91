/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rate controller with simulated machines: the cost of a sample, the recorder's cost per
 * sample, and its constant cost change while it runs. Then a real clock of this process with a
 * budget, if the machine allows one.
 */
#include "base/clock.h"
#include "check.h"
#include "perf_data_fixture.h"
#include "session/rate/budget.h"
#include "session/rate/rate_control.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)

struct machine {
	double sample_ns; /* in the kernel; known to the controller */
	double walk_ns;   /* of the recorder, for each sample, over all CPUs */
	double own;       /* share of the recorder that does not depend on samples */
	double burst;     /* the same, one second in seven */
};

struct course {
	struct budget b;
	double share;            /* in the last second, true */
	unsigned second;         /* since the start */
	unsigned over, over_max; /* seconds above the budget in a row, except at the lowest rate */
	unsigned changes;
};

static void begin(struct course *c, const struct machine *m, double share, double asked_hz)
{
	*c = (struct course){0};
	budget_begin(&c->b, &(struct budget_start){.share = share,
	                                           .asked_hz = asked_hz,
	                                           .sample_ns = m->sample_ns});
}

static void run(struct course *c, const struct machine *m, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++, c->second++) {
		double own =
		        m->own + c->b.hz * m->walk_ns / 1e9 + (c->second % 7 == 6 ? m->burst : 0);
		struct budget_load load = {.elapsed_ns = SECOND,
		                           .hz = c->b.hz,
		                           .sampling = c->b.hz * m->sample_ns / 1e9,
		                           .own = own};
		bool least = c->b.hz <= fmin(BUDGET_FLOOR_HZ, c->b.asked_hz);

		c->share = load.sampling + own;
		c->over = c->share > c->b.share && !least ? c->over + 1 : 0;
		c->over_max = c->over > c->over_max ? c->over : c->over_max;
		c->changes += budget_look(&c->b, &load);
	}
}

static void the_rate_begins_at_the_cost_of_a_sample(void)
{
	struct machine m = {.sample_ns = 16000};
	struct course c;

	begin(&c, &m, 0.02, 50000);
	CHECK(c.b.hz * 16000 / 1e9 <= 0.02);
	CHECK(c.b.hz * 16000 / 1e9 > 0.016);
	run(&c, &m, 600);
	CHECK_EQ(c.changes, 0);
	CHECK_EQ(c.over_max, 0);
	CHECK_EQ(c.b.over_ns, 0);
	CHECK_EQ(c.b.looked_ns, 600 * SECOND);
	CHECK(fabs(c.b.spent_ns / (double)c.b.looked_ns - c.share) < 1e-9);
}

/* A sample costs twice what was measured: after two checks the rate is half of it. */
static void a_lowered_rate_has_the_cost_that_the_budget_allows(void)
{
	struct machine m = {.sample_ns = 16000};
	struct course c;

	begin(&c, &m, 0.02, 50000);
	CHECK_EQ(c.b.hz, 1087); /* 0.87 x 0.02 / 16 us, a prime number */
	m.sample_ns = 32000;
	run(&c, &m, 2);
	CHECK_EQ(c.b.hz, 541);
	run(&c, &m, 60);
	CHECK_EQ(c.b.hz, 541);
	CHECK_EQ(c.changes, 1);
}

static void cheap_sampling_is_not_slowed(void)
{
	struct machine m = {.sample_ns = 2000, .own = 0.001, .burst = 0.002};
	struct course c;

	begin(&c, &m, 0.02, 997);
	run(&c, &m, 300);
	CHECK_EQ((uint64_t)c.b.hz, 997);
	CHECK_EQ(c.changes, 0);
}

static void walking_that_gets_dear_and_cheap_again(void)
{
	struct machine cheap = {.sample_ns = 10000, .walk_ns = 10000, .own = 0.001};
	struct machine dear = {.sample_ns = 10000, .walk_ns = 150000, .own = 0.001};
	struct course c;
	double before;

	begin(&c, &cheap, 0.02, 10000);
	run(&c, &cheap, 60);
	CHECK(c.share <= 0.02 && c.share > 0.014);
	before = c.b.hz;
	run(&c, &dear, 60);
	CHECK(c.over_max <= 3);
	CHECK(c.share <= 0.02 && c.share > 0.014);
	CHECK(c.b.hz < before / 4);
	run(&c, &cheap, 60);
	CHECK(c.b.hz > before * 0.8);
	CHECK(c.share <= 0.02);
	CHECK(c.changes < 25);
}

/* The recorder's constant cost exceeds the budget: no rate keeps it, and the account reports it. */
static void too_much_anyway(void)
{
	struct machine m = {.sample_ns = 10000, .own = 0.03}, calm = {.sample_ns = 10000};
	struct course c;

	begin(&c, &m, 0.02, 5000);
	run(&c, &m, 100);
	CHECK_EQ((uint64_t)c.b.hz, BUDGET_FLOOR_HZ);
	CHECK(c.b.over_ns >= 95 * SECOND);
	CHECK(c.b.most > 0.03);
	run(&c, &calm, 120);
	CHECK(c.b.hz > 1000);
	begin(&c, &m, 0.02, 7);
	run(&c, &m, 20);
	CHECK_EQ((uint64_t)c.b.hz,
	         7); /* below the requested rate only if that is above the lowest rate */
}

static void budget_ignores_short_bursts(void)
{
	struct machine m = {.sample_ns = 10000, .own = 0.002, .burst = 0.01};
	struct course c;

	begin(&c, &m, 0.02, 5000);
	run(&c, &m, 600);
	CHECK(c.changes <= 60);
	CHECK(c.b.hz > 200);
	CHECK(c.b.spent_ns / (double)c.b.looked_ns < 0.02);
}

/* A store is written every ten seconds, which takes half a second: the mean counts. */
static void budget_uses_the_mean_over_window_ends(void)
{
	struct budget_load load = {.elapsed_ns = SECOND};
	struct budget b;
	unsigned changes = 0;

	budget_begin(&b,
	             &(struct budget_start){.share = 0.02, .asked_hz = 5000, .sample_ns = 16000});
	for (unsigned i = 0; i < 1200; i++) {
		load.hz = b.hz;
		load.sampling = b.hz * 16000 / 1e9;
		load.own = i % 10 == 9 ? 0.1 : 0.0005;
		changes += budget_look(&b, &load);
	}
	CHECK(changes < 60);
	CHECK(b.hz > 200);
	CHECK(b.spent_ns / (double)b.looked_ns < 0.0205);
}

/* While full rings limit the rate, the rate of the budget does not increase. */
static void full_rings_limit_the_rate(void)
{
	struct budget_load load = {.elapsed_ns = SECOND, .hz = 50, .sampling = 0.0005};
	struct budget b;

	budget_begin(&b,
	             &(struct budget_start){.share = 0.02, .asked_hz = 50000, .sample_ns = 16000});
	for (int i = 0; i < 100; i++)
		CHECK(!budget_look(&b, &load));
	load.own = 0.1;
	CHECK(!budget_look(&b, &load)); /* a burst, perhaps */
	CHECK(budget_look(&b, &load));
	CHECK(b.hz < 50);
}

/* Simulates a recording of that length: its mean share, including the set-up. */
static double mean_share(const struct budget_start *start, const struct machine *m, double length_s)
{
	struct course c = {0};
	double taken_ns = start->set_up_ns;

	budget_begin(&c.b, start);
	for (double s = 0; s < length_s - 1e-9; s += 0.5) {
		struct budget_load load = {.elapsed_ns = SECOND / 2,
		                           .hz = c.b.hz,
		                           .sampling = c.b.hz * m->sample_ns / 1e9,
		                           .own = m->own};

		taken_ns += (load.sampling + load.own) * SECOND / 2;
		budget_look(&c.b, &load);
	}
	return taken_ns / (length_s * SECOND);
}

/* A recording of the length in the remark at the start keeps its budget, including the set-up. */
static void set_up_is_paid_off(void)
{
	struct machine m = {.sample_ns = 50000, .own = 0.0005};
	struct budget_start start = {
	        .share = 0.01, .asked_hz = 997, .sample_ns = 50000, .set_up_ns = 40e6};
	struct budget b;
	double from_s;

	budget_begin(&b, &start);
	from_s = budget_keeps_from_ns(&b) / 1e9;
	CHECK(from_s > 4 && from_s < 10);
	CHECK(b.hz < 0.01 / 50e-6 / 2);
	for (double s = ceil(from_s); s < 200; s += 7)
		CHECK(mean_share(&start, &m, s) <= 0.01);
	/* Then the whole budget is available. */
	CHECK(mean_share(&start, &m, 200) > 0.008);
	/* The constant cost is more than the share that was left. */
	m.own = 0.004;
	CHECK(mean_share(&start, &m, 20) <= 0.01);
	start.set_up_ns = 0;
	budget_begin(&b, &start);
	CHECK(budget_keeps_from_ns(&b) <= 0);
	CHECK(b.hz > 0.8 * 0.01 / 50e-6);
}

/* Where the length is known, samples get the rest of the budget; a remark says if there is none. */
static void a_known_length_is_kept(void)
{
	struct machine m = {.sample_ns = 50000, .own = 0.0005};
	struct budget_start start = {
	        .share = 0.01, .asked_hz = 997, .sample_ns = 50000, .set_up_ns = 15e6};
	struct budget b;

	for (double s = 2; s < 100; s += 3) {
		start.duration_ns = s * SECOND;
		budget_begin(&b, &start);
		CHECK(budget_keeps_from_ns(&b) <= start.duration_ns * 1.000001);
		CHECK(mean_share(&start, &m, s) <= 0.01);
		CHECK(b.hz > BUDGET_FLOOR_HZ);
	}
	start.duration_ns = 0.5 * SECOND;
	budget_begin(&b, &start);
	CHECK(budget_keeps_from_ns(&b) > start.duration_ns);
}

/* A small multiple of a prime period is never a multiple of another timer's period. */
static void rates_are_primes(void)
{
	for (double share = 0.0005; share < 0.5; share *= 1.07) {
		struct budget b;
		uint64_t hz, factors = 0;

		budget_begin(&b, &(struct budget_start){
		                         .share = share, .asked_hz = 100000, .sample_ns = 15000});
		hz = (uint64_t)b.hz;
		for (uint64_t d = 2; d < hz; d++)
			factors += hz % d == 0;
		CHECK_EQ(factors, 0);
	}
}

static double between(double low, double high)
{
	return low * pow(high / low, (double)random() / (double)RAND_MAX);
}

static void any_machine(void)
{
	unsigned worst = 0;

	srandom(1);
	for (int i = 0; i < 300; i++) {
		double share = between(0.002, 0.1), asked = between(50, 100000);
		struct course c;
		struct machine m = {.sample_ns = between(500, 40000)};

		begin(&c, &m, share, asked);
		for (int part = 0; part < 6; part++) {
			m.walk_ns = between(1, 200000);
			m.own = between(share / 1000, share * 0.7);
			run(&c, &m, 150);
			CHECK(c.share <= share || c.b.hz <= BUDGET_FLOOR_HZ);
			CHECK(c.share > 0.65 * share || c.b.hz >= c.b.asked_hz ||
			      c.b.hz <= 2 * BUDGET_FLOOR_HZ);
		}
		CHECK(c.over_max <= 4);
		worst = c.over_max > worst ? c.over_max : worst;
	}
	printf("# at most %u s above the budget\n", worst);
}

struct world {
	struct plan plan;
	struct perf_source *source;
	struct rate_control rate_control;
};

static void add_clock(struct world *w, enum attr_role role, uint64_t hz, uint64_t period)
{
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(clock),
	                                .config = PERF_COUNT_SW_CPU_CLOCK,
	                                .freq = hz != 0,
	                                .sample_type = FIXTURE_SAMPLE_TYPE,
	                                .disabled = 1,
	                                .exclude_kernel = 1,
	                                .exclude_hv = 1};

	if (hz)
		clock.sample_freq = hz;
	else
		clock.sample_period = period;
	vec_push(&w->plan.events,
	         (struct perf_source_event){.attr = clock, .name = "clock", .role = role});
}

static void world_close(struct world *w)
{
	rate_control_done(&w->rate_control);
	perf_source_close(w->source);
	vec_each (event, &w->plan.events)
		vec_done(&event->ids);
	vec_done(&w->plan.events);
}

static bool world_open(struct world *w)
{
	int32_t self = getpid();
	struct perf_source_options options = {
	        .event_count = 2, .tasks = &self, .task_count = 1, .ring_bytes = 4096};
	struct error err = {0};

	*w = (struct world){0};
	add_clock(w, ATTR_CLOCK, 20000, 0);
	add_clock(w, ATTR_WITNESS, 0, 8000617);
	options.events = w->plan.events.items;
	if (perf_source_open(&w->source, &options, &err)) {
		printf("# not tried: %s\n", err.text);
		world_close(w);
		return false;
	}
	rate_control_init(&w->rate_control, &w->plan, w->source);
	return true;
}

/* The share is so small that the clocks start at the lowest rate. */
static void a_clock_with_a_budget(void)
{
	struct account account = {0};
	struct session_status status = {.period_ns = 50000};
	struct world w;
	uint64_t floor = (uint64_t)llround(1e9 / BUDGET_FLOOR_HZ), now;

	if (!world_open(&w))
		return;
	rate_control_budget(&w.rate_control, 1e-7);
	CHECK(!rate_control_begin(&w.rate_control, 0, 0));
	now = clock_ns(CLOCK_MONOTONIC);
	CHECK_EQ(w.rate_control.changes.count, 1);
	CHECK_EQ(rate_control_period(&w.rate_control, 0, 0, now, 50000), floor);
	CHECK(rate_control_period(&w.rate_control, 1, 0, now, 8000617) > 8 * floor);
	CHECK_EQ(rate_control_period(&w.rate_control, 0, 0,
	                             w.rate_control.changes.items[0].done_ns[0], 1),
	         50000);
	rate_control_status(&w.rate_control, &status);
	CHECK_EQ(status.period_ns, floor);
	/* Full rings cannot slow it further. */
	rate_control_look(&w.rate_control, 1, true, now);
	CHECK_EQ(w.rate_control.changes.count, 1);
	rate_control_account(&w.rate_control, &account);
	CHECK_EQ(account.rates.count, 1);
	CHECK_EQ(account.rates.items[0].period_ns, floor);
	CHECK_EQ(account.rates.items[0].budget, 1);
	CHECK(account.budget.cost_ns > 0);
	CHECK_EQ(account.notes.count, 0);
	vec_done(&account.rates);
	world_close(&w);
}

/* The budget allows the requested rate; full rings do not. */
static void full_rings_beside_a_budget(void)
{
	struct account account = {0};
	struct world w;
	uint64_t now = 1000 * SECOND;

	if (!world_open(&w))
		return;
	rate_control_budget(&w.rate_control, 1000);
	CHECK(!rate_control_begin(&w.rate_control, 0, 0));
	CHECK_EQ(w.rate_control.changes.count, 0);
	rate_control_look(&w.rate_control, 0.9, false, now);
	CHECK_EQ(rate_control_period(&w.rate_control, 0, 0, UINT64_MAX, 1), 100000);
	for (int i = 0; i < 10; i++)
		rate_control_look(&w.rate_control, 0, false, now += 4 * SECOND);
	CHECK_EQ(rate_control_period(&w.rate_control, 0, 0, UINT64_MAX, 1), 50000);
	rate_control_account(&w.rate_control, &account);
	CHECK_EQ(account.rates.count, 2);
	CHECK_EQ(account.rates.items[0].budget, 0);
	vec_done(&account.rates);
	world_close(&w);
}

/* Due samples in requested periods, from the first change to `end_ns`. */
static double due(const struct rate_control *s, uint64_t end_ns)
{
	double sum = 0;

	for (size_t i = s->changes.count; i--;) {
		const struct rate_control_change *c = &s->changes.items[i];

		sum += (double)(end_ns - c->done_ns[0]) / c->stretch;
		end_ns = c->done_ns[0];
	}
	return sum;
}

static uint64_t sum_of_slowed(const struct account *account)
{
	uint64_t slowed = 0, changes = 0;

	vec_each (rate, &account->rates) {
		slowed += rate->slowed;
		changes += rate->changes;
		CHECK_EQ(rate->slowest_ns != 0, rate->slowed != 0);
	}
	CHECK_EQ(changes, 6000);
	return slowed;
}

static void many_changes_are_bounded_and_their_totals_exact(void)
{
	struct account account = {0};
	struct session_status status = {0};
	struct world w;
	uint64_t now = 1000 * SECOND, first = 0, last = 0, at;
	double expected = 0, stretch = 1;

	if (!world_open(&w))
		return;
	for (int i = 0; i < 6000; i++) {
		bool full = i % 2 == 0;

		rate_control_look(&w.rate_control, full ? 0.9 : 0, false,
		                  now += (full ? 1 : 100) * SECOND);
		at = vec_last(&w.rate_control.changes)->done_ns[0];
		expected += last ? (double)(at - last) / stretch : 0;
		stretch = vec_last(&w.rate_control.changes)->stretch;
		last = at;
		first = first ? first : at;
		CHECK(w.rate_control.changes.count <= SHED_CHANGES_MAX);
	}
	CHECK_EQ(w.rate_control.merged + w.rate_control.changes.count, 6000);
	CHECK_EQ(w.rate_control.changes.items[0].done_ns[0], first);
	CHECK(fabs(due(&w.rate_control, last) / expected - 1) < 1e-9);
	status.now_ns = now;
	rate_control_status(&w.rate_control, &status);
	CHECK_EQ(status.slowed_behind_ns, 3000 * 100 * SECOND);
	rate_control_account(&w.rate_control, &account);
	CHECK_EQ(account.rates.count, w.rate_control.changes.count);
	CHECK_EQ(account.notes.count, 1);
	CHECK_EQ(sum_of_slowed(&account), 3000);
	CHECK(strstr(account.notes.items[0], "changed 6000 times") != NULL);
	CHECK(strstr(account.notes.items[0], "300000.0 s because the recorder") != NULL);
	free(account.notes.items[0]);
	vec_done(&account.notes);
	vec_done(&account.rates);
	world_close(&w);
}

/* No event has a rate that can be lowered: the account reports it. */
static void budget_without_a_clock_is_reported(void)
{
	struct account account = {0};
	struct plan plan = {0};
	struct rate_control s;

	rate_control_init(&s, &plan, NULL);
	rate_control_budget(&s, 0.01);
	CHECK(!rate_control_begin(&s, 0, 0));
	rate_control_look(&s, 0, false, SECOND);
	rate_control_account(&s, &account);
	CHECK_EQ(account.rates.count, 0);
	CHECK_EQ(account.budget.share_ppm, 0);
	CHECK_EQ(account.notes.count, 1);
	vec_each (note, &account.notes)
		free(*note);
	vec_done(&account.notes);
	rate_control_done(&s);
}

int main(void)
{
	RUN(the_rate_begins_at_the_cost_of_a_sample);
	RUN(a_lowered_rate_has_the_cost_that_the_budget_allows);
	RUN(cheap_sampling_is_not_slowed);
	RUN(walking_that_gets_dear_and_cheap_again);
	RUN(too_much_anyway);
	RUN(budget_ignores_short_bursts);
	RUN(budget_uses_the_mean_over_window_ends);
	RUN(full_rings_limit_the_rate);
	RUN(set_up_is_paid_off);
	RUN(a_known_length_is_kept);
	RUN(rates_are_primes);
	RUN(any_machine);
	RUN(a_clock_with_a_budget);
	RUN(full_rings_beside_a_budget);
	RUN(many_changes_are_bounded_and_their_totals_exact);
	RUN(budget_without_a_clock_is_reported);
	return check_end();
}
