/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates the kernel's timer, with points at start + k * period. Each point is served when
 * interrupts allow, and points that pass until then are skipped. Compares the grid's tick numbers
 * with the true ones.
 */
#include "check.h"
#include "event/tick_grid.h"

#include <math.h>
#include <stdlib.h>

struct rng {
	uint64_t state;
};

static double uniform(struct rng *r)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (double)(r->state >> 11) / 9007199254740992.0;
}

struct timer {
	double period, drift; /* ns; timestamps run (1 + drift) times as fast */
	double held;          /* probability that interrupts are off at a point */
	double held_max;      /* for how long at most, in periods */
	double lost;          /* probability that a served tick leaves no sample */
	double burst;         /* probability that a run of 20 held ticks begins */
};

struct result {
	uint64_t samples, wrong_tick, seen_missing, true_missing;
	double worst_origin_ns; /* after the first 1000 samples */
};

/* Lateness of a tick: 5 to 15 us, or as long as interrupts are off. */
static double lateness(const struct timer *t, struct rng *r, int *burst)
{
	double late = 5000 + uniform(r) * 10000 * uniform(r);

	if (!*burst && uniform(r) < t->burst)
		*burst = 20;
	if (*burst > 0 || uniform(r) < t->held)
		late += uniform(r) * t->held_max * t->period;
	*burst -= *burst > 0;
	return late;
}

static struct result simulate(const struct timer *t, int ticks, uint64_t seed)
{
	struct rng rng = {seed};
	struct result result = {0};
	struct tick_grid grid;
	uint64_t first = 0, last = 0;
	int burst = 0;

	tick_grid_init(&grid, (uint64_t)t->period);
	for (uint64_t k = 0; k < (uint64_t)ticks;) {
		double due = 1e12 + (double)k * t->period;
		double at = due + lateness(t, &rng, &burst);
		double stamp = 1e12 + (at - 1e12) * (1 + t->drift);
		struct grid_tick tick;

		if (result.samples && uniform(&rng) < t->lost) {
			k = (uint64_t)fmax((double)k + 1, ceil((at - 1e12) / t->period));
			continue;
		}
		tick = tick_grid_sample(&grid, (uint64_t)stamp);
		if (!result.samples++)
			first = k;
		else
			result.true_missing += k - last - 1;
		result.wrong_tick += tick.tick != k - first;
		result.seen_missing += tick.missing;
		if (result.samples > 1000) {
			double origin = grid.origin_ns + (double)tick.tick * t->period;
			double true_due = 1e12 + (due - 1e12) * (1 + t->drift) + 5000;

			result.worst_origin_ns =
			        fmax(result.worst_origin_ns, fabs(origin - true_due));
		}
		last = k;
		/* hrtimer_forward(): the next point after now */
		k = (uint64_t)fmax((double)k + 1, ceil((at - 1e12) / t->period));
	}
	printf("# period %.0f drift %+.0f ppm: %llu samples, %llu wrong, missing %llu of %llu, "
	       "origin off by %.1f us at worst\n",
	       t->period, t->drift * 1e6, (unsigned long long)result.samples,
	       (unsigned long long)result.wrong_tick, (unsigned long long)result.seen_missing,
	       (unsigned long long)result.true_missing, result.worst_origin_ns / 1000);
	return result;
}

static void quiet_timer(void)
{
	static const double drifts[] = {0, 50e-6, -50e-6, 1e-6};

	for (size_t i = 0; i < 4; i++) {
		struct timer t = {.period = 1003009, .drift = drifts[i]};
		struct result r = simulate(&t, 200000, 1 + i);

		CHECK_EQ(r.wrong_tick, 0);
		CHECK_EQ(r.seen_missing, 0);
		CHECK(r.worst_origin_ns < 12000);
	}
}

/* Ticks held off by up to 0.95 period: no tick is skipped, and none may be miscounted. */
static void late_within_a_period(void)
{
	static const double periods[] = {1003009, 100000, 200040};

	for (size_t i = 0; i < 3; i++) {
		struct timer t = {.period = periods[i], .drift = 50e-6, .held = 0.1};

		t.held_max = 0.95 - 16000 / t.period;
		CHECK_EQ(simulate(&t, 100000, 11 + i).wrong_tick, 0);
		t.drift = -t.drift;
		CHECK_EQ(simulate(&t, 100000, 21 + i).wrong_tick, 0);
	}
}

/*
 * Ticks held off for many periods, also several in a row, and lost samples: one in 2000 may be
 * assigned wrongly.
 */
static void late_by_many_periods(void)
{
	for (int sign = -1; sign <= 1; sign++) {
		struct timer t = {.period = 1003009,
		                  .drift = sign * 50e-6,
		                  .held = 0.02,
		                  .held_max = 8,
		                  .lost = 0.1,
		                  .burst = 0.0005};
		struct result r = simulate(&t, 200000, 31 + (uint64_t)(sign + 1));
		double off = fabs((double)r.seen_missing - (double)r.true_missing);

		CHECK(r.true_missing > 20000);
		CHECK(off <= 0.001 * (double)r.true_missing);
	}
}

/* The first sample is late by 0.9 period: with the next one, the grid finds the true origin. */
static void first_sample_late(void)
{
	struct tick_grid g;

	tick_grid_init(&g, 1000000);
	CHECK_EQ(tick_grid_sample(&g, 10900000).tick, 0);
	CHECK_EQ(tick_grid_sample(&g, 11000000).tick, 1);
	CHECK_EQ(tick_grid_sample(&g, 12900000).tick, 2);
	CHECK_EQ(tick_grid_sample(&g, 13000500).tick, 3);
	CHECK_EQ(tick_grid_sample(&g, 16000300).missing, 2);
	CHECK_EQ(tick_grid_due(&g, 10000000, 13000001), 4);
	CHECK_EQ(tick_grid_due(&g, 10000001, 13000000), 2);
	CHECK_EQ(tick_grid_due(&g, 13000000, 13000000), 0);
}

/* A time stamp may be a little too early. The tick is that of the nearest point, also after a gap.
 */
static void a_sample_may_be_slightly_early(void)
{
	struct tick_grid g;

	tick_grid_init(&g, 1000000);
	tick_grid_sample(&g, 10000000);
	CHECK_EQ(tick_grid_sample(&g, 13000000 - 1500).missing, 2);
	CHECK_EQ(tick_grid_sample(&g, 14000000).missing, 0);
	/*
	 * A quarter of a short period: 2,000 ns early equals half a period late for the point
	 * before.
	 */
	tick_grid_init(&g, 4000);
	tick_grid_sample(&g, 10000000);
	CHECK_EQ(tick_grid_sample(&g, 10012000 - 900).missing, 2);
	tick_grid_init(&g, 4000);
	tick_grid_sample(&g, 10000000);
	CHECK_EQ(tick_grid_sample(&g, 10012000 - 1900).missing, 1);
}

/* A timer that is restarted at another phase (throttling) is found again. */
static void restarted_timer(void)
{
	struct tick_grid g;
	uint64_t missing = 0;

	tick_grid_init(&g, 1000000);
	for (uint64_t k = 0; k < 1000; k++)
		missing += tick_grid_sample(&g, 1000000000 + k * 1000000 + k % 7 * 1000).missing;
	for (uint64_t k = 0; k < 1000; k++)
		missing += tick_grid_sample(&g, 2000400000 + k * 1000000 + k % 7 * 1000).missing;
	CHECK_EQ(missing, 0);
	CHECK(tick_grid_sample(&g, 3000400000).late_ns < 10000);
	for (uint64_t k = 0; k < 1000; k++)
		missing += tick_grid_sample(&g, 3000700000 + k * 1000000 + k % 7 * 1000).missing;
	CHECK(missing <= 1);
}

/* Samples of a window of 32, each `late` after its point of the grid. */
static void window_of(struct tick_grid *g, uint64_t *k, uint64_t late)
{
	for (int i = 0; i < 32; i++)
		tick_grid_sample(g, 1000000000 + ++*k * 1000000 + late);
}

/*
 * Only consecutive late windows show that the timer was restarted: one timely window starts the
 * count again.
 */
static void late_windows_count_in_a_row(void)
{
	struct tick_grid g;
	uint64_t k = 0;
	double origin;

	tick_grid_init(&g, 1000000);
	tick_grid_sample(&g, 1000000000);
	window_of(&g, &k, 0);
	origin = g.origin_ns;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 3; i++)
			window_of(&g, &k, 400000);
		CHECK_EQ(g.late_windows, 3);
		window_of(&g, &k, 0);
		CHECK_EQ(g.late_windows, 0);
	}
	CHECK(fabs(g.origin_ns - origin) < 50000);
	for (int i = 0; i < 4; i++)
		window_of(&g, &k, 400000);
	CHECK(fabs(g.origin_ns - origin - 400000) < 1000);
}

static void hostile_times(void)
{
	static const uint64_t times[] = {5, 0, UINT64_MAX, 1, UINT64_MAX, UINT64_MAX - 1, 1u << 30};
	struct tick_grid g;

	tick_grid_init(&g, 0);
	CHECK_EQ(tick_grid_sample(&g, 100).missing, 0);
	CHECK_EQ(tick_grid_due(&g, 0, 1000), 0);
	tick_grid_init(&g, 10);
	CHECK_EQ(tick_grid_due(&g, 0, 1000), 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		CHECK(tick_grid_sample(&g, times[i]).late_ns >= 0);
	CHECK_EQ(g.started, true);
}

int main(void)
{
	RUN(quiet_timer);
	RUN(late_within_a_period);
	RUN(late_by_many_periods);
	RUN(first_sample_late);
	RUN(a_sample_may_be_slightly_early);
	RUN(restarted_timer);
	RUN(late_windows_count_in_a_row);
	RUN(hostile_times);
	return check_end();
}
