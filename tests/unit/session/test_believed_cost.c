/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cost that is measured repeatedly: one figure far above the others changes nothing. */
#include "check.h"
#include "session/rate/believed_cost.h"

static enum believed_cost_news take(struct believed_cost *b, double ns)
{
	struct on_off_figure f = {.ns = ns, .low_ns = ns, .high_ns = ns, .pairs = 20};

	return believed_cost_take(b, &f);
}

static void the_first_figure_replaces_the_assumption(void)
{
	struct believed_cost b = {.ns = 40000};

	CHECK_EQ(take(&b, 12000), BELIEVED_CHANGED);
	CHECK_EQ(b.ns, 12000);
	CHECK_EQ(b.figure.pairs, 20);
	/* Later ones have half of the weight. */
	CHECK_EQ(take(&b, 13000), BELIEVED_SAME);
	CHECK_EQ(b.ns, 12500);
	CHECK_EQ(take(&b, 6500), BELIEVED_CHANGED);
	CHECK_EQ(b.ns, 9500);
}

static void the_load_of_a_moment(void)
{
	struct believed_cost b = {.ns = 40000};

	take(&b, 40000);
	CHECK_EQ(take(&b, 600000), BELIEVED_DOUBTED);
	CHECK_EQ(b.ns, 40000);
	CHECK_EQ(b.figure.ns, 40000);
	CHECK_EQ(take(&b, 42000), BELIEVED_SAME);
	CHECK_EQ(b.ns, 41000);
	/* The doubt is over: another one is doubted as well. */
	CHECK_EQ(take(&b, 270000), BELIEVED_DOUBTED);
	CHECK_EQ(b.ns, 41000);
}

static void a_confirmed_rise(void)
{
	struct believed_cost b = {.ns = 1000};

	/* The first figure, too. */
	CHECK_EQ(take(&b, 31000), BELIEVED_DOUBTED);
	CHECK_EQ(b.ns, 1000);
	CHECK_EQ(b.figure.pairs, 0);
	CHECK_EQ(take(&b, 2400), BELIEVED_CHANGED);
	CHECK_EQ(b.ns, 2400);
	/* The lower one of the two is used. */
	CHECK_EQ(take(&b, 5000), BELIEVED_DOUBTED);
	CHECK_EQ(take(&b, 90000), BELIEVED_CHANGED);
	CHECK_EQ(b.ns, 5000);
}

int main(void)
{
	RUN(the_first_figure_replaces_the_assumption);
	RUN(the_load_of_a_moment);
	RUN(a_confirmed_rise);
	return check_end();
}
