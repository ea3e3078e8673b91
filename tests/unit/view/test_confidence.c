/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates recordings of programs with known shares. Checks how often the intervals contain the
 * share of the run itself, and compares their width with the scatter of the errors.
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
		e->period_ns = 1000000;
		for (uint32_t row = 0; row < 3; row++) {
			struct profile_row key = {.path = row, .event = event};

			profile_row_add(p, &key);
		}
	}
	return p;
}

static void hit_at(struct profile *p, uint16_t cpu, uint8_t event, uint32_t row, uint64_t time_ns)
{
	struct time_entry entry = {
	        .time_ns = time_ns, .row = event * 3 + row, .samples = 1, .weight = 1};

	p->rows.items[entry.row].samples++;
	time_axis_add(&p->axis, time_axis_track(&p->axis, 0, cpu, event), &entry);
}

static void hit(struct profile *p, uint16_t cpu, uint8_t event, uint32_t row)
{
	hit_at(p, cpu, event, row, 0);
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
	double width, scatter;    /* mean width; 2 * 1.96 * deviation of the errors */
	double narrowest, widest; /* of nine of ten widths */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct outcome try_pattern(const struct pattern *pt, uint64_t seed)
{
	struct rng rng = {seed};
	struct outcome o = {0};
	double *widths = xcalloc(RUNS, sizeof(*widths));
	double sum2 = 0;
	int held = 0;

	for (int run = 0; run < RUNS; run++) {
		struct profile *p = profile_of_two();
		double truth = simulate(pt, &rng, p);
		struct confidence c = ask(p, NULL);

		held += c.low <= truth && truth <= c.high;
		widths[run] = c.high - c.low;
		o.width += widths[run] / RUNS;
		sum2 += (c.share - truth) * (c.share - truth);
		profile_free(p);
	}
	qsort(widths, RUNS, sizeof(*widths), by_value);
	o.coverage = (double)held / RUNS;
	o.scatter = 2 * 1.959964 * sqrt(sum2 / RUNS);
	o.narrowest = widths[RUNS / 20];
	o.widest = widths[RUNS - 1 - RUNS / 20];
	printf("# %s: holds the run's share %.1f %%; width %.4f (%.4f to %.4f), scatter %.4f, "
	       "ratio %.2f\n",
	       pt->name, 100 * o.coverage, o.width, o.narrowest, o.widest, o.scatter,
	       o.width / o.scatter);
	free(widths);
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
	        {.name = "0.31/0.13 ms",
	         .f = .31,
	         .g = .13,
	         .random = true,
	         .ticks = 5000,
	         .expected = .7},
	        {.name = "70/30 ms", .f = 70, .g = 30, .dither = .1, .ticks = 5000, .expected = .7},
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		struct outcome o = try_pattern(&patterns[i], 200 + i);

		CHECK(o.coverage >= 0.93);
		CHECK(o.width <= 1.5 * o.scatter);
		CHECK(o.widest <= 2 * o.narrowest);
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
		CHECK(o.widest <= 2 * o.narrowest);
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

/* Of more samples in the same windows most are not read: the variance is that of those read. */
static void sums_of_windows_are_thinned_out(void)
{
	struct confidence few = of_windows(100), many = of_windows(1000);

	CHECK_EQ(many.samples, 10 * few.samples);
	CHECK(fabs(many.share - few.share) < 1e-9);
	CHECK(many.variance < few.variance);
	CHECK(many.variance > few.variance / 100);
}

static bool is_about(double got, double want)
{
	if (fabs(got / want - 1) < 0.05)
		return true;
	printf("# %g, not %g\n", got, want);
	return false;
}

/*
 * Each change inside the sequence costs a twelfth of a sample squared; an end of the sequence costs
 * a twelfth of the squared share of the others.
 */
static void long_runs_have_the_error_of_their_edges_only(void)
{
	struct profile *p = profile_of_two();
	struct confidence c;

	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, i >= 300 && i < 500 ? 0 : 1);
	c = ask(p, NULL);
	CHECK(fabs(c.share - 0.2) < 1e-9);
	CHECK(is_about(c.variance * 1000 * 1000, (2 + 2 * 0.2 * 0.2) / 12));
	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, i >= 800 && i < 900 ? 0 : 1);
	c = ask(p, NULL);
	CHECK(is_about(c.variance * 2000 * 2000, (4 + 2 * 0.15 * 0.15) / 12));
	profile_free(p);
}

/* Single hits, far from each other, are as independent samples. */
static void single_hits_are_independent(void)
{
	struct profile *p = profile_of_two();
	struct confidence c;

	for (int i = 0; i < 1000; i++)
		hit(p, 0, 0, i % 50 == 7 ? 0 : 1);
	c = ask(p, NULL);
	CHECK(fabs(c.share - 0.02) < 1e-9);
	CHECK(is_about(c.variance * 1000 * 1000, 1000 * 0.02 * 0.98));
	profile_free(p);
}

/*
 * The base is 200 runs of 5 samples, with other samples between them, and each run is of one group:
 * both ends of a run are uncertain, although successive runs are often of the same group.
 */
static void ends_of_the_base_are_edges(void)
{
	static const bool outside[6] = {false, false, true, false, false, true};
	struct profile *p = profile_of_two();
	struct confidence c;

	for (int i = 0; i < 2000; i++)
		hit(p, 0, 0, i % 10 >= 5 ? 2 : i >= 1000);
	c = ask(p, outside);
	CHECK(fabs(c.share - 0.5) < 1e-9);
	CHECK(is_about(c.variance * 1000 * 1000, 400 * 0.25 / 12));
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

/*
 * f runs for 30 % of each period of the clock: the clock sees one phase, the witness all. If the
 * program loses its phase from time to time (`lost`: mean time in ms), the clock sees long runs.
 */
static struct profile *in_step(double clock_ms, double lost_ms, struct rng *r)
{
	struct profile *p = profile_of_two();
	double next = 0.1, second = 0.1, phase = 0, lost = lost_ms;

	for (double t = 0; t < 5000; t = fmin(next, second)) {
		bool f;

		for (; lost_ms > 0 && lost < t; lost += exponential(r, lost_ms))
			phase = uniform(r);
		f = fmod(t + phase + uniform(r) * 0.02, 1) < 0.3;
		if (t == next)
			hit_at(p, 0, 0, f ? 0 : 1, (uint64_t)(t * 1e6));
		else
			hit_at(p, 0, 1, f ? 0 : 1, (uint64_t)(t * 1e6));
		if (t == next)
			next += clock_ms;
		else
			second += 7.0347;
	}
	return p;
}

/* Whether both clocks can be compared; frees the profile. */
static bool compare(struct profile *p, struct confidence *clock, struct confidence_step *steps)
{
	struct sample_order order;
	struct confidence_input in = {p, &order, 0, 2, groups, NULL};
	bool compared;

	sample_order_init(&order, &p->axis);
	confidence_intervals(&in, clock);
	compared = confidence_compare(&in, 1, clock, steps);
	sample_order_done(&order);
	profile_free(p);
	return compared;
}

static void a_program_in_step_is_found(void)
{
	struct rng rng = {600};
	struct confidence_step steps[2];
	struct confidence clock[2];
	uint32_t found = 0, falsely = 0, held = 0;

	for (int run = 0; run < 100; run++) {
		CHECK(compare(in_step(1, 0, &rng), clock, steps));
		found += steps[0].shares < 0.001 && steps[1].shares < 0.001;
		for (int i = 0; i < 2; i++) {
			double truth = i ? 0.7 : 0.3;

			held += steps[i].low <= truth && truth <= steps[i].high;
			CHECK(steps[i].high - steps[i].low < 0.1);
		}
		CHECK(fabs(fabs(clock[0].share - clock[1].share) - 1) < 0.01);
		CHECK(fabs(steps[0].witness - 0.3) < 0.05);
		CHECK(compare(in_step(PERIOD_MS, 0, &rng), clock, steps));
		falsely += steps[0].shares < 0.001;
	}
	CHECK_EQ(found, 100);
	CHECK(held >= 186); /* 93 % */
	CHECK(falsely <= 1);
}

/* Both clocks have nearly the same share, but the clock sees runs that the witness does not. */
static void a_program_that_loses_its_phase_is_found(void)
{
	struct rng rng = {700};
	struct confidence_step steps[2];
	struct confidence clock[2];
	uint32_t found = 0;

	for (int run = 0; run < 100; run++) {
		CHECK(compare(in_step(1, 40, &rng), clock, steps));
		found += steps[0].order < 0.001;
	}
	CHECK_EQ(found, 100);
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
	RUN(a_program_that_loses_its_phase_is_found);
	RUN(long_runs_have_the_error_of_their_edges_only);
	RUN(single_hits_are_independent);
	RUN(ends_of_the_base_are_edges);
	return check_end();
}
