/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of calls is subtracted: tables with figures that are computed by hand.
 */
#include "calls_file_fixture.h"

/* What the clock timed is known to a hundredth. */
static double error_of(const struct call_path *path, double cost_error_ns)
{
	return cost_error_ns + fabs(path->net_ns) / 100;
}

static void costs_are_subtracted(void)
{
	struct abc x = abc_new();
	struct call_paths *c = read_with(x.f, NULL);
	const struct call_process *p = process_of(c);
	const struct call_thread *t = &p->threads.items[0];

	CHECK_EQ(p->flags, 0);
	CHECK_EQ(p->paths.count, 3);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 10 * 10) / 2.0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_error_ns,
	         error_of(PATH(c, 0x1000, 0x2000), 10 * 0.5 / 2));
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 10 - 10 * 6) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->net_error_ns, error_of(PATH(c, 0x1000), (0.5 + 10 * 0.25) / 2));
	CHECK_NS(p->paths.items[0].net_ns, (300 - 6) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->total_ns, 200 + 465);
	CHECK_NS(t->own_ns, (100 + 11 * 16) / 2.0);
	CHECK_NS(p->own_ns, t->own_ns);
	CHECK_NS(p->inner_ns, 5);
	CHECK_NS(p->outer_ns, 3);
	/* 300 + 1000 + 500 + 100 ticks of 1900: the measured terms add up */
	CHECK_NS(t->wall_ns, 950);
	CHECK_NS(t->cpu_ns, 950);
	CHECK_NS(t->cpu_residual_ns, 0);
	CHECK_NS(t->wall_residual_ns, 0);
	CHECK_NS(p->wall_ns, 950);
	CHECK_STR(intern_text(&c->images.names, p->name), "prog");
	CHECK_STR(intern_text(&c->images.names, p->command), "prog -x");
	CHECK_STR(intern_text(&c->images.names, t->name), "t4711");
	call_paths_free(c);
	free(x.f);
}

/* If the cost is too high, the result is negative, and is shown as such. */
static void nothing_is_clamped(void)
{
	struct abc x = abc_new();
	struct call_paths *c;

	fx_header(x.f)->cost.inner = 80 * 1024;
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 800) / 2.0);
	call_paths_free(c);
	free(x.f);
}

/* The program subtracted its own cost from min and max: the mean stays between them. */
static void the_range_moves_with_the_mean(void)
{
	struct abc x = abc_new();
	struct call_paths *c;

	/* One call: 1000 minus 10 and 10 times 6, as the program computed it. */
	fx_node_at(x.f, x.a)->min = fx_node_at(x.f, x.a)->max = 930;
	fx_node_at(x.f, x.b)->min = 30;
	fx_node_at(x.f, x.b)->max = 60;
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000)->min_ns, 465);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->min_ns, 15);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->max_ns, 30);
	call_paths_free(c);
	/*
	 * Double readings give 8 more for entries and 4 more for exits, of which half is
	 * subtracted; the calibration is very uncertain.
	 */
	fx_header(x.f)->cost.inner_error = fx_header(x.f)->cost.outer_error = 1 << 20;
	fx_record(x.f, x.thread)->enter = (struct assay_calls_sample){100, 2800, 78400};
	fx_record(x.f, x.thread)->exit = (struct assay_calls_sample){100, 3400, 115600};
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 14 - 10 * 8) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->min_ns, PATH(c, 0x1000)->net_ns);
	CHECK_NS(PATH(c, 0x1000)->max_ns, PATH(c, 0x1000)->net_ns);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->min_ns, (30 - 4) / 2.0);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->max_ns, (60 - 4) / 2.0);
	call_paths_free(c);
	free(x.f);
}

static void double_readings_correct_costs(void)
{
	double sampled = 1.96 * 1.96 * 100 / 99 / 100, share = 0.25 / (0.25 + sampled);
	struct abc x = abc_new();
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	struct call_paths *c;

	/* half of them 24, half 26 ticks; 20 at the calibration */
	t->enter = (struct assay_calls_sample){100, 2500, 50 * 24 * 24 + 50 * 26 * 26};
	t->exit = (struct assay_calls_sample){29, 29 * 99, 29 * 99 * 99}; /* too few */
	c = read_with(x.f, NULL);
	/* The readings are more precise than the calibration, whose error is half a tick. */
	/* Half of the difference, 5, is subtracted, and half of it is an error. */
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (500 - 10 * (10 + 2.5 * share)) / 2);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_error_ns,
	         error_of(PATH(c, 0x1000, 0x2000), 10 * (0.5 + 2.5 * share) / 2));
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - (10 + 2.5 * share) - 10 * 6) / 2.0);
	CHECK_NS(process_of(c)->threads.items[0].cpu_residual_ns, 0);
	call_paths_free(c);
	t->exit = (struct assay_calls_sample){30, 30 * 28, 30 * 28 * 28}; /* all equal: no error */
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - (10 + 2.5 * share) - 10 * 5) / 2.0);
	CHECK_NS(PATH(c, 0x1000)->net_error_ns,
	         error_of(PATH(c, 0x1000), (0.5 + 2.5 * share + 10 * (0.25 + 1)) / 2));
	call_paths_free(c);
	/* an interrupt during one reading has nearly no effect */
	t->exit = (struct assay_calls_sample){100, 99 * 30 + 90000, 99 * 900 + 90000ull * 90000};
	c = read_with(x.f, NULL);
	CHECK(fabs(PATH(c, 0x1000)->net_ns - (1000 - (10 + 2.5 * share) - 10 * 6) / 2.0) < 0.1);
	call_paths_free(c);
	free(x.f);
}

/* A longer callee has a lower cost: 10 ticks at 30 measured, 6 at 50, 5 at 80 and longer. */
static void costs_follow_the_callees_length(void)
{
	static const struct {
		uint64_t net; /* of ten calls */
		double inner;
	} lengths[] = {{200, 10}, {300, 10}, {400, 8}, {500, 6}, {650, 5.5}, {800, 5}, {90000, 5}};
	struct abc x = abc_new();
	struct assay_calls_cost *cost = &fx_header(x.f)->cost;
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	struct call_paths *c;

	cost->length_count = 3;
	for (int i = 0; i < 3; i++) {
		cost->lengths[i].net = (int32_t[]){30, 50, 80}[i] * 1024;
		cost->lengths[i].inner = (int32_t[]){10, 6, 5}[i] * 1024;
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		double net = (double)lengths[i].net;

		fx_node_at(x.f, x.b)->net = lengths[i].net;
		t->last = fx_header(x.f)->end_ticks = FX_BEGIN + 1400 + lengths[i].net;
		c = read_with(x.f, NULL);
		CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (net - 10 * lengths[i].inner) / 2);
		/* a has 1000 ticks minus the cost of its callees: it is long */
		CHECK_NS(PATH(c, 0x1000)->net_ns, (1000 - 5 - 10 * 6) / 2.0);
		CHECK_NS(process_of(c)->inner_ns, (10 * lengths[i].inner + 5) / 11 / 2);
		CHECK_NS(process_of(c)->threads.items[0].cpu_residual_ns, 0);
		call_paths_free(c);
	}
	/* The correction by the program's own readings applies to all lengths. */
	t->enter = (struct assay_calls_sample){100, 2200, 2200 * 22};
	c = read_with(x.f, NULL);
	CHECK_NS(PATH(c, 0x1000, 0x2000)->net_ns, (90000 - 10 * (5 + 1)) / 2.0);
	call_paths_free(c);
	free(x.f);
}

/*
 * The clock timed some calls of a function, and no sample hit it in the time in which its thread
 * was sampled: how many calls were timed is not known. A single call that was timed is known.
 */
static void no_sample_does_not_mean_no_time(void)
{
	struct abc x = abc_new();
	struct assay_calls_thread *t = fx_record(x.f, x.thread);
	struct call_paths *c;

	t->period = 2000;
	c = read_with(x.f, NULL);
	CHECK(!PATH(c, 0x1000, 0x2000)->is_sampled);
	call_paths_free(c);
	t->samples = 7;
	fx_node_at(x.f, x.a)->min = fx_node_at(x.f, x.a)->max = 1000;
	c = read_with(x.f, NULL);
	CHECK(PATH(c, 0x1000, 0x2000)->is_sampled);
	CHECK_EQ(PATH(c, 0x1000, 0x2000)->samples, 0);
	CHECK(!PATH(c, 0x1000)->is_sampled);
	call_paths_free(c);
	free(x.f);
}

int main(void)
{
	RUN(costs_are_subtracted);
	RUN(nothing_is_clamped);
	RUN(the_range_moves_with_the_mean);
	RUN(double_readings_correct_costs);
	RUN(costs_follow_the_callees_length);
	RUN(no_sample_does_not_mean_no_time);
	return check_end();
}
