/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slowdown by sampling: computed from known pairs of runs, and measured on this machine. */
#include "check.h"
#include "perf_data_fixture.h"
#include "session/rate/calibration.h"

#include <linux/perf_event.h>
#include <math.h>

#define PAIRS 400
#define HZ 1000.0

/* A sample takes 20 us; pairs scatter evenly by 5 us to both sides. */
static void fill(double *pair_ns)
{
	for (int i = 0; i < PAIRS; i++)
		pair_ns[i] = 20000 + 5000 * (2.0 * (i * 7919 % PAIRS) / (PAIRS - 1) - 1);
}

static void the_median_at_the_rate(void)
{
	struct account_calibration c;
	double pair_ns[PAIRS];

	fill(pair_ns);
	calibration_of_pairs(pair_ns, PAIRS, HZ, &c);
	CHECK_EQ(c.state, CALIBRATION_DONE);
	CHECK_EQ(c.pairs, PAIRS);
	/* 2 % of the time is lost, so work takes 1 / 0.98 of the time. */
	CHECK_EQ(c.slowdown_ppm, 20408);
	/* The median of 400 values has a deviation of 2.5 ranks in a hundred. */
	CHECK(c.low_ppm > 19800 && c.low_ppm < 20000);
	CHECK(c.high_ppm > 20800 && c.high_ppm < 21000);
}

/* Other programs or the host took the CPU in a third of the pairs. */
static void stolen_time_moves_no_median(void)
{
	struct account_calibration c;
	double pair_ns[PAIRS];

	fill(pair_ns);
	for (int i = 0; i < PAIRS; i += 3)
		pair_ns[i] += i % 2 ? 4e6 : -4e6;
	calibration_of_pairs(pair_ns, PAIRS, HZ, &c);
	CHECK_EQ(c.state, CALIBRATION_DONE);
	CHECK(c.slowdown_ppm > 19400 && c.slowdown_ppm < 21400);
}

static void a_busy_machine(void)
{
	struct account_calibration c;
	double pair_ns[PAIRS];

	fill(pair_ns);
	calibration_of_pairs(pair_ns, 29, HZ, &c);
	CHECK_EQ(c.state, CALIBRATION_BUSY);
	CHECK_EQ(c.pairs, 29);
	for (int i = 0; i < PAIRS; i++)
		pair_ns[i] = i % 2 ? 100000 : -60000;
	calibration_of_pairs(pair_ns, PAIRS, HZ, &c);
	CHECK_EQ(c.state, CALIBRATION_BUSY);
	calibration_of_pairs(pair_ns, 0, HZ, &c);
	CHECK_EQ(c.state, CALIBRATION_BUSY);
	CHECK_EQ(c.pairs, 0);
}

/* Samples that take all of the time. */
static void the_cost_may_exceed_the_elapsed_time(void)
{
	struct account_calibration c;
	double pair_ns[PAIRS];

	fill(pair_ns);
	calibration_of_pairs(pair_ns, PAIRS, 1e6, &c);
	CHECK(c.slowdown_ppm > 1000000);
}

static struct plan plan_of(uint32_t config, enum attr_role role)
{
	struct plan plan = {0};
	struct perf_source_event event = {.role = role,
	                                  .attr = {.type = PERF_TYPE_SOFTWARE,
	                                           .size = sizeof(struct perf_event_attr),
	                                           .config = config,
	                                           .sample_period = 1003009,
	                                           .sample_type = FIXTURE_SAMPLE_TYPE,
	                                           .disabled = 1,
	                                           .inherit = 1}};

	vec_push(&plan.events, event);
	return plan;
}

static void on_this_machine(void)
{
	struct plan clock = plan_of(PERF_COUNT_SW_CPU_CLOCK, ATTR_CLOCK);
	struct plan faults = plan_of(PERF_COUNT_SW_PAGE_FAULTS, ATTR_COUNT);
	struct account_calibration c;

	calibration_measure(&clock, &c);
	printf("# state %d, %d pairs, %d ppm [%d %d]\n", (int)c.state, (int)c.pairs,
	       (int)c.slowdown_ppm, (int)c.low_ppm, (int)c.high_ppm);
	CHECK(c.state == CALIBRATION_DONE || c.state == CALIBRATION_BUSY ||
	      c.state == CALIBRATION_REFUSED);
	if (c.state == CALIBRATION_DONE)
		CHECK(c.slowdown_ppm > 100 && c.slowdown_ppm < 900000);
	calibration_measure(&faults, &c);
	CHECK_EQ(c.state, CALIBRATION_NO_CLOCK);
	vec_done(&clock.events);
	vec_done(&faults.events);
}

int main(void)
{
	RUN(the_median_at_the_rate);
	RUN(stolen_time_moves_no_median);
	RUN(a_busy_machine);
	RUN(the_cost_may_exceed_the_elapsed_time);
	RUN(on_this_machine);
	return check_end();
}
