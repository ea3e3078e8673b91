/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of an event from pairs of pieces of work: a preemption in any piece moves no median, and
 * a wide interval is no figure.
 */
#include "base/statistics/on_off.h"
#include "check.h"

#include <string.h>

#define PAIRS 200

/* A piece takes 1000 ns, each of its two events 40 ns, and every few pieces another program runs.
 */
struct machine {
	uint32_t state;
	double event_ns, scatter_ns;
	uint32_t busy_percent; /* of the pieces */
	bool counted;          /* busy pieces are discarded */
	size_t pieces, first_on;
};

static uint32_t chance(struct machine *m)
{
	m->state = m->state * 1664525 + 1013904223;
	return m->state >> 8;
}

static double piece(void *ctx, bool on, uint32_t *events)
{
	struct machine *m = ctx;
	double ns = 1000 + (on ? 2 * m->event_ns : 0) + m->scatter_ns * (chance(m) % 1000) / 1000.0;

	*events = on ? 2 : 0;
	m->first_on += m->pieces++ % 2 == 0 && on;
	if (chance(m) % 100 >= m->busy_percent)
		return ns;
	return m->counted ? ON_OFF_DISTURBED : ns + 4e6;
}

static struct on_off_figure measured(struct machine *m, size_t pairs, bool *precise)
{
	double differences[PAIRS];
	struct on_off run = {.piece = piece,
	                     .ctx = m,
	                     .differences = differences,
	                     .room = pairs,
	                     .pairs_least = pairs,
	                     .cpu_ns = UINT64_MAX,
	                     .elapsed_ns = UINT64_MAX};
	struct on_off_figure figure;

	on_off_run(&run);
	*precise = on_off_result(&run, &figure);
	return figure;
}

static void a_quiet_machine(void)
{
	struct machine m = {.event_ns = 40, .scatter_ns = 10};
	bool precise;
	struct on_off_figure f = measured(&m, 40, &precise);

	CHECK(precise);
	CHECK_EQ(f.pairs, 40);
	CHECK(f.ns > 36 && f.ns < 44);
	CHECK(f.least_ns <= f.ns && f.ns <= f.most_ns);
	CHECK(f.low_ns <= f.ns && f.ns <= f.high_ns);
	/* Both orders occur equally often. */
	CHECK_EQ(m.pieces, 80);
	CHECK_EQ(m.first_on, 20);
}

/* Another program runs in a third of all pieces: in more than half of the pairs. */
static void preemptions_move_no_median(void)
{
	for (uint32_t start = 0; start < 20; start++) {
		struct machine m = {
		        .state = start, .event_ns = 40, .scatter_ns = 4, .busy_percent = 33};
		bool precise;
		struct on_off_figure f = measured(&m, PAIRS, &precise);

		CHECK(f.ns > 40 / 1.5 && f.ns < 40 * 1.5);
		m.counted = true;
		f = measured(&m, PAIRS, &precise);
		CHECK(precise && f.ns > 36 && f.ns < 44);
	}
}

/* An event without a cost, a scatter that is larger than the cost, and too few pairs. */
static void no_figure(void)
{
	struct machine m = {.event_ns = 0, .scatter_ns = 10};
	double few[] = {40, 40, 40}, one[] = {40};
	struct on_off_figure f;
	bool precise;

	measured(&m, PAIRS, &precise);
	CHECK(!precise);
	m = (struct machine){.event_ns = 40, .scatter_ns = 2000};
	measured(&m, 40, &precise);
	CHECK(!precise);
	on_off_of_pairs(few, 3, &f);
	CHECK(f.ns == 40 && !on_off_precise(&f));
	on_off_of_pairs(one, 1, &f);
	CHECK(f.pairs == 1 && f.ns == 0 && !on_off_precise(&f));
	on_off_of_pairs(NULL, 0, &f);
	CHECK(f.pairs == 0 && !on_off_precise(&f));
}

static void a_second_run_adds_to_the_pairs(void)
{
	struct machine m = {.event_ns = 40, .scatter_ns = 4};
	double differences[PAIRS];
	struct on_off run = {.piece = piece,
	                     .ctx = &m,
	                     .differences = differences,
	                     .room = 6,
	                     .pairs_least = PAIRS,
	                     .on_first = true,
	                     .cpu_ns = UINT64_MAX,
	                     .elapsed_ns = UINT64_MAX};
	struct on_off_figure f;

	on_off_run(&run);
	CHECK_EQ(run.count, 6);
	CHECK(!on_off_result(&run, &f));
	run.room = PAIRS;
	run.pairs_least = 24;
	on_off_run(&run);
	CHECK_EQ(run.count, 24);
	CHECK(on_off_result(&run, &f));
	CHECK_EQ(m.first_on, 24);
	/* All pieces are disturbed: the time ends the run. */
	m = (struct machine){.busy_percent = 100, .counted = true};
	run.count = 0;
	run.elapsed_ns = 1000000;
	on_off_run(&run);
	CHECK_EQ(run.count, 0);
}

int main(void)
{
	RUN(a_quiet_machine);
	RUN(preemptions_move_no_median);
	RUN(no_figure);
	RUN(a_second_run_adds_to_the_pairs);
	return check_end();
}
