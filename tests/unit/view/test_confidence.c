/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates recordings of programs with known shares. Checks how often the intervals contain the
 * true share, and compares their width with the scatter of the estimates.
 */
#include "check.h"
#include "view/confidence/confidence.h"

#include <math.h>

/* 500 runs do not tell a coverage of 93 % from one of 95 %. */
#define RUNS (CHECK_CASES(2000) < 2000 ? 1000 : 2000)
#define PERIOD_MS 1.003009

struct rng {
	uint64_t state;
};

static double uniform(struct rng *r)
{
	r->state += 0x9e3779b97f4a7c15u;
	return (double)(hash_u64(r->state) >> 11) / 9007199254740992.0;
}

static double exponential(struct rng *r, double mean)
{
	return -mean * log(1 - uniform(r));
}

/* A profile of two rows, f and g, and one sequence of `event` on each CPU. */
static struct profile *profile_of_two(void)
{
	struct profile *p = profile_new();

	for (uint8_t event = 0; event < 2; event++) {
		struct profile_event *e = vec_add(&p->events);

		e->name = xstrdup(event ? "witness" : "cpu-clock");
		e->role = event ? ATTR_WITNESS : ATTR_CLOCK;
		for (uint32_t row = 0; row < 3; row++) {
			struct profile_row key = {.path = row, .event = event};

			profile_row_add(p, &key);
		}
	}
	return p;
}

static void hit(struct profile *p, uint16_t cpu, uint8_t event, uint32_t row)
{
	struct time_entry entry = {.row = event * 3 + row, .samples = 1, .weight = 1};

	p->rows.items[entry.row].samples++;
	time_axis_add(&p->axis, time_axis_track(&p->axis, 0, cpu, event), &entry);
}

/* Rows 0 and 1 of each event are groups 0 and 1, row 2 is in no group. */
static const uint32_t groups[] = {0, 1, ID_NONE, 0, 1, ID_NONE};

static struct confidence ask(const struct profile *p, const bool *outside)
{
	struct sample_order order;
	struct confidence_input in = {p, &order, 0, 2, groups, outside};
	struct confidence out[2];

	sample_order_init(&order, &p->axis);
	confidence_intervals(&in, out);
	sample_order_done(&order);
	return out[0];
}

/* A program: phases of f and of g in turn, durations in ms; or a coin at each tick. */
struct pattern {
	const char *name;
	double f, g;     /* mean durations */
	double dither;   /* each duration is uniform in mean * (1 -+ dither) */
	bool random;     /* durations are exponential */
	double coin;     /* > 0: no phases, f with this probability */
	bool migrating;  /* the program hops between two CPUs, the other is idle */
	int ticks;       /* of a recording */
	double expected; /* share of f over many runs */
};

static double phase_length(const struct pattern *pt, struct rng *r, bool f)
{
	double mean = f ? pt->f : pt->g;

	if (pt->random)
		return exponential(r, mean);
	return mean * (1 + pt->dither * (2 * uniform(r) - 1));
}

/* Simulates one recording; returns the true share of f in it. */
static double simulate(const struct pattern *pt, struct rng *r, struct profile *p)
{
	double end = pt->ticks * PERIOD_MS, tick = uniform(r) * PERIOD_MS, in_f = 0;
	bool f = uniform(r) < pt->expected;
	double start = 0, stop = phase_length(pt, r, f) * uniform(r), hop = exponential(r, 80);
	uint16_t cpu = 0;

	for (; pt->coin > 0 && tick < end; tick += PERIOD_MS)
		hit(p, 0, 0, uniform(r) < pt->coin ? 0 : 1);
	while (!(pt->coin > 0) && start < end) {
		double to = fmin(stop, end);

		in_f += f ? to - start : 0;
		for (; tick < to; tick += PERIOD_MS) {
			for (; hop < tick; hop += exponential(r, 80))
				cpu ^= 1;
			hit(p, pt->migrating ? cpu : 0, 0, f ? 0 : 1);
			if (pt->migrating)
				hit(p, cpu ^ 1, 0, 2);
		}
		start = stop;
		f = !f;
		stop += phase_length(pt, r, f);
	}
	if (pt->coin > 0)
		return pt->coin;
	return in_f / end / (pt->migrating ? 2 : 1);
}

struct outcome {
	double coverage;          /* of the share in the run itself */
	double expected_coverage; /* of the share over many runs */
	double width, scatter;    /* mean width; 2 * 1.96 * sd of the estimates */
};

static struct outcome try_pattern(const struct pattern *pt, uint64_t seed)
{
	struct rng rng = {seed};
	struct outcome o = {0};
	double sum = 0, sum2 = 0;
	int held = 0, expected_held = 0;

	for (int run = 0; run < RUNS; run++) {
		struct profile *p = profile_of_two();
		double truth = simulate(pt, &rng, p);
		struct confidence c = ask(p, NULL);

		held += c.low <= truth && truth <= c.high;
		expected_held += c.low <= pt->expected && pt->expected <= c.high;
		o.width += (c.high - c.low) / RUNS;
		sum += c.share;
		sum2 += c.share * c.share;
		profile_free(p);
	}
	o.coverage = (double)held / RUNS;
	o.expected_coverage = (double)expected_held / RUNS;
	o.scatter = 2 * 1.959964 * sqrt((sum2 - sum * sum / RUNS) / (RUNS - 1));
	printf("# %s: holds the run's share %.1f %%, the expected one %.1f %%; width %.4f, "
	       "scatter %.4f, ratio %.2f\n",
	       pt->name, 100 * o.coverage, 100 * o.expected_coverage, o.width, o.scatter,
	       o.width / o.scatter);
	return o;
}

static void coins(void)
{
	static const double shares[] = {0.5, 0.3, 0.02, 0.95};

	for (size_t i = 0; i < 4; i++) {
		struct pattern pt = {.name = "coin", .coin = shares[i], .expected = shares[i]};
		struct outcome o;

		pt.ticks = 2000;
		o = try_pattern(&pt, 100 + i);
		CHECK(o.coverage >= 0.93);
		CHECK(o.width <= 1.5 * o.scatter);
		CHECK(o.width >= 0.8 * o.scatter);
	}
}

static void phases_in_turn(void)
{
	static const struct pattern patterns[] = {
	        {.name = "7/3 ms", .f = 7, .g = 3, .dither = 0.25, .ticks = 5000, .expected = 0.7},
	        {.name = "0.7/0.3 ms",
	         .f = .7,
	         .g = .3,
	         .dither = .5,
	         .ticks = 5000,
	         .expected = .7},
	        {.name = "70/30 ms", .f = 70, .g = 30, .dither = .1, .ticks = 5000, .expected = .7},
	        {.name = "1/60 ms",
	         .f = 1,
	         .g = 60,
	         .dither = .25,
	         .ticks = 5000,
	         .expected = 1 / 61.},
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		struct outcome o = try_pattern(&patterns[i], 200 + i);

		CHECK(o.coverage >= 0.93);
		CHECK(o.width <= 1.5 * o.scatter);
	}
}

/*
 * Without jitter, ticks are more precise than random samples: intervals may be too wide, but must
 * be small.
 */
static void exact_phases(void)
{
	struct pattern pt = {.name = "7.3/2.9 ms exact", .f = 7.3, .g = 2.9, .ticks = 5000};
	struct outcome o;

	pt.expected = 7.3 / 10.2;
	o = try_pattern(&pt, 300);
	CHECK(o.coverage >= 0.93);
	/* Independent samples would give 0.025. */
	CHECK(o.width <= 0.010);
}

static void bursts(void)
{
	static const struct pattern patterns[] = {
	        {.name = "bursts 30/70 ms",
	         .f = 30,
	         .g = 70,
	         .random = true,
	         .ticks = 10000,
	         .expected = .3},
	        {.name = "bursts 5/5 ms",
	         .f = 5,
	         .g = 5,
	         .random = true,
	         .ticks = 5000,
	         .expected = .5},
	        {.name = "bursts 2/200 ms",
	         .f = 2,
	         .g = 200,
	         .random = true,
	         .ticks = 10000,
	         .expected = 2 / 202.},
	        {.name = "330/170 ms",
	         .f = 330,
	         .g = 170,
	         .dither = .3,
	         .ticks = 5230,
	         .expected = .66},
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		struct outcome o = try_pattern(&patterns[i], 400 + i);

		CHECK(o.coverage >= 0.93);
		CHECK(o.width <= 1.5 * o.scatter);
		if (patterns[i].random)
			CHECK(o.expected_coverage >= 0.91);
	}
}

/* A thread that moves between CPUs is not bursty work: the widths are the same as without moves. */
static void hopping_is_no_burst(void)
{
	struct pattern pt = {.name = "hopping", .f = 7, .g = 3, .dither = .25, .ticks = 5000};
	struct outcome o;

	pt.migrating = true;
	pt.expected = 0.35;
	o = try_pattern(&pt, 500);
	CHECK(o.coverage >= 0.93);
	CHECK(o.width <= 0.03);
}

static void none_all_and_nothing(void)
{
	struct profile *p = profile_of_two();
	bool outside[6] = {false, true, false, false, false, false};
	struct confidence c = ask(p, NULL);

	CHECK(c.low == 0 && c.high == 1);
	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, 1);
	c = ask(p, NULL);
	CHECK(c.share == 0 && c.low == 0);
	CHECK(c.high > 0.002 && c.high < 0.006);
	hit(p, 0, 0, 0);
	c = ask(p, outside);
	CHECK(c.share == 1 && c.high == 1);
	CHECK(c.low < 0.5);
	/* One hit in a thousand samples: the interval must not be narrow. */
	c = ask(p, NULL);
	CHECK(c.low < 0.0004 && c.high > 0.003);
	profile_free(p);
}

/* Windows of samples in an unknown order, in bursts of some windows. */
static struct confidence of_windows(uint64_t samples)
{
	struct profile *p = profile_of_two();
	struct confidence c;

	p->axis.window_ns = 1000000;
	for (uint32_t i = 0; i < 14000; i++) {
		struct time_entry e = {.time_ns = (uint64_t)i << 20,
		                       .row = hash_u64(i / 10) % 7 < 3 ? 0 : 1,
		                       .samples = samples};

		p->rows.items[e.row].samples += samples;
		time_axis_add(&p->axis, time_axis_track(&p->axis, 0, 0, 0), &e);
	}
	c = ask(p, NULL);
	profile_free(p);
	return c;
}

/* More samples in the same windows, most of which are not read, show the same bursts. */
static void sums_of_windows_are_thinned_out(void)
{
	struct confidence few = of_windows(100), many = of_windows(1000);

	CHECK_EQ(many.samples, 10 * few.samples);
	CHECK(fabs(many.share - few.share) < 1e-9);
	CHECK(fabs(many.variance / few.variance - 1) < 0.01);
}

/*
 * Too few cycles to estimate their scatter: each edge of a run inside the sequence costs a twelfth
 * of a sample squared, the two ends of the sequence a sixth, a run of one sample its own variance.
 */
static void few_runs_have_the_error_of_their_edges_only(void)
{
	struct profile *p = profile_of_two();
	struct confidence c;

	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, i >= 300 && i < 500 ? 0 : 1);
	c = ask(p, NULL);
	CHECK(fabs(c.share - 0.2) < 1e-9);
	CHECK(fabs(c.variance * 1000 * 1000 - (2.0 / 12 + 1.0 / 6)) < 1e-9);
	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, i >= 800 && i < 900 ? 0 : 1);
	c = ask(p, NULL);
	CHECK(fabs(c.variance * 2000 * 2000 - (4.0 / 12 + 1.0 / 6)) < 1e-9);
	hit(p, 0, 0, 0); /* at the very end: one edge, one run of a single sample */
	c = ask(p, NULL);
	CHECK(fabs(c.variance * 2001 * 2001 - (5.0 / 12 + 1.0 / 6 + 1 - 301.0 / 2001)) < 1e-9);
	profile_free(p);
}

/*
 * An interrupt in a long run makes a gap of one sample, but does not end a cycle: three runs with
 * such a gap in the middle are too few cycles. Each gap adds its own variance.
 */
static void a_gap_of_one_sample_ends_no_cycle(void)
{
	struct profile *p = profile_of_two();
	struct confidence c;

	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, i % 300 >= 100 && i % 300 != 200 && i < 900 ? 0 : 1);
	c = ask(p, NULL);
	CHECK(fabs(c.share - 0.597) < 1e-9);
	CHECK(fabs(c.variance * 1000 * 1000 - (12.0 / 12 + 1.0 / 6 + 3 * 0.597)) < 1e-9);
	profile_free(p);
}

static void missing_sequences_fall_back(void)
{
	struct profile *p = profile_of_two();
	struct confidence c;

	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, i < 500 ? 0 : 1);
	c = ask(p, NULL);
	CHECK(c.high - c.low < 0.01);
	p->rows.items[0].samples += 500;
	p->rows.items[1].samples += 500;
	c = ask(p, NULL);
	CHECK_EQ(c.samples, 1000);
	CHECK(fabs(c.high - c.low - 0.0438) < 0.001);
	profile_free(p);
}

/* f runs for 30 % of each period of the clock: the clock sees one phase, the witness all. */
static struct profile *in_step(double clock_ms, struct rng *r)
{
	struct profile *p = profile_of_two();

	for (double t = 0.1; t < 5000; t += clock_ms)
		hit(p, 0, 0, fmod(t + uniform(r) * 0.02, 1) < 0.3 ? 0 : 1);
	for (double t = 0.1; t < 5000; t += 7.0347)
		hit(p, 0, 1, fmod(t + uniform(r) * 0.02, 1) < 0.3 ? 0 : 1);
	return p;
}

/* The number of steps that are found; frees the profile. */
static size_t steps_of(struct profile *p, struct confidence_step *steps)
{
	struct sample_order order;
	struct confidence_input in = {p, &order, 0, 2, groups, NULL};
	size_t count;

	sample_order_init(&order, &p->axis);
	count = confidence_steps(&in, 1, steps, 4);
	sample_order_done(&order);
	profile_free(p);
	return count;
}

static void a_program_in_step_is_found(void)
{
	struct rng rng = {600};
	struct confidence_step steps[4];
	uint32_t found = 0, falsely = 0, held = 0;

	for (int run = 0; run < 100; run++) {
		found += steps_of(in_step(1, &rng), steps) == 2;
		for (int i = 0; i < 2; i++) {
			double truth = steps[i].group ? 0.7 : 0.3;

			held += steps[i].low <= truth && truth <= steps[i].high;
			CHECK(steps[i].high - steps[i].low < 0.1);
		}
		CHECK(fabs(fabs(steps[0].clock - steps[1].clock) - 1) < 0.01);
		CHECK(fabs(fmin(steps[0].witness, steps[1].witness) - 0.3) < 0.05);
		falsely += steps_of(in_step(PERIOD_MS, &rng), steps) != 0;
	}
	CHECK_EQ(found, 100);
	CHECK(held >= 186); /* 93 % */
	CHECK(falsely <= 1);
}

int main(void)
{
	RUN(coins);
	RUN(phases_in_turn);
	RUN(exact_phases);
	RUN(bursts);
	RUN(hopping_is_no_burst);
	RUN(none_all_and_nothing);
	RUN(sums_of_windows_are_thinned_out);
	RUN(missing_sequences_fall_back);
	RUN(a_program_in_step_is_found);
	RUN(few_runs_have_the_error_of_their_edges_only);
	RUN(a_gap_of_one_sample_ends_no_cycle);
	return check_end();
}
