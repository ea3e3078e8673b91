/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The residual that a report expects, compared with that of CPUs with known busy time. */
#include "check.h"
#include "view_fixture.h"

#include "view/account/account.h"

#include <math.h>

#define TRIALS 400

/* A fixed sequence: each run of the test has the same CPUs. */
static uint64_t state = 88172645463325252u;

static double random_share(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

static double run_ns(double mean_ns)
{
	return -log(1 - random_share()) * mean_ns;
}

/* The number of ticks at phase + k periods in [from, to). */
static uint64_t ticks_in(double from, double to, double phase)
{
	return (uint64_t)(ceil((to - phase) / MS) - ceil((from - phase) / MS));
}

/* One CPU that is busy and idle in turn, for `length` periods, sampled without a loss. */
static void simulate(struct ledger_cpu *c, uint32_t cpu, double length, double busy, double idle)
{
	double now = 0, end = length * MS, phase = random_share() * MS;
	bool is_busy = random_share() < busy / (busy + idle);

	*c = (struct ledger_cpu){
	        .cpu = cpu, .period_ns = MS, .wall_ns = (uint64_t)end, .has_switches = true};
	while (now < end) {
		double to = fmin(now + run_ns(is_busy ? busy * MS : idle * MS), end);
		uint64_t ticks = ticks_in(now, to, phase);

		*(is_busy ? &c->busy_ns : &c->idle_ns) += (uint64_t)to - (uint64_t)now;
		*(is_busy ? &c->ticks_due_busy : &c->ticks_due_idle) += ticks;
		c->switches += to < end;
		is_busy = !is_busy;
		now = to;
	}
	c->ticks_seen_busy = c->ticks_due_busy;
	c->ticks_seen_idle = c->ticks_due_idle;
	c->weight_busy = c->ticks_seen_busy * MS;
	c->weight_idle = c->ticks_seen_idle * MS;
}

/* The account of two such CPUs, whose samples are all in user mode. */
static struct account_terms account_of(double length, double busy, double idle)
{
	struct fixture f;
	struct account_view *a;
	struct account_terms total;
	struct view *v;

	fixture_init(&f, false);
	f.profile->rows.count = 0;
	vec_each (row, &f.profile->rows)
		row->samples = row->weight = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct ledger_cpu *c = &f.profile->ledger.cpus.items[i];

		simulate(c, i, length, busy, idle);
		vec_push(&f.profile->rows, (struct profile_row){.path = PATH_ROOT,
		                                                .thread = f.sh,
		                                                .region = REGION_NONE,
		                                                .cpu = (uint16_t)i,
		                                                .mode = PROFILE_USER,
		                                                .samples = c->ticks_seen_busy,
		                                                .weight = c->weight_busy});
	}
	v = view_new(f.profile, f.symbols);
	a = account_view_new(v);
	total = a->total;
	account_view_free(a);
	view_free(v);
	fixture_done(&f);
	return total;
}

/* Lengths in periods. */
static void check_chance(double length, double busy, double idle)
{
	double chance = 0, squares = 0;
	int within = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct account_terms t = account_of(length, busy, idle);

		within += fabs((double)t.residual_ns) <= t.chance_ns;
		squares += (double)t.residual_ns * (double)t.residual_ns;
		chance += t.chance_ns / TRIALS;
	}
	printf("# %g periods, busy %g, idle %g: %d of %d within, expected %.2f ms, rms %.2f ms\n",
	       length, busy, idle, within, TRIALS, chance / MS, sqrt(squares / TRIALS) / MS);
	CHECK(within >= TRIALS * 95 / 100);
	/* The bound is useful: not much more than the ends and twice the usual residual. */
	CHECK(chance <= 2.0 * MS + 5 * sqrt(squares / TRIALS));
}

static void residuals_of_long_and_short_runs_are_expected(void)
{
	check_chance(130, 20, 20); /* few samples: a short session of a flight recorder */
	check_chance(130, 0.1, 0.3);
	check_chance(130, 0.05, 5);
	check_chance(2000, 3, 1);
	check_chance(2000, 0.3, 0.3);
	check_chance(2000, 1, 30);
}

/* A CPU that is never idle is measured to a tick. */
static void busy_cpus_have_only_the_error_of_the_ends(void)
{
	for (int i = 0; i < 20; i++) {
		struct account_terms t = account_of(1000.5, 1e9, 1e-9);

		CHECK(fabs((double)t.residual_ns) <= 2 * MS);
		CHECK_EQ((int64_t)t.chance_ns, 2 * MS);
	}
}

/* Missing ticks that the ledger does not count as missing exceed the expected residual. */
static void lost_time_is_not_expected(void)
{
	struct fixture f;
	struct account_view *a;
	struct view *v;

	fixture_init(&f, false);
	f.profile->ledger.cpus.items[0].wall_ns += 4 * MS;
	f.profile->ledger.cpus.items[0].busy_ns += 4 * MS;
	v = view_new(f.profile, f.symbols);
	a = account_view_new(v);
	CHECK_EQ(a->total.residual_ns, 6 * MS);
	CHECK_EQ((int64_t)a->total.chance_ns, 2 * MS);
	account_view_free(a);
	/* Without switch records, no residual can be expected. */
	vec_each (c, &f.profile->ledger.cpus)
		c->has_switches = false;
	a = account_view_new(v);
	CHECK(a->total.chance_ns == 0);
	account_view_free(a);
	view_free(v);
	fixture_done(&f);
}

int main(void)
{
	RUN(residuals_of_long_and_short_runs_are_expected);
	RUN(busy_cpus_have_only_the_error_of_the_ends);
	RUN(lost_time_is_not_expected);
	return check_end();
}
