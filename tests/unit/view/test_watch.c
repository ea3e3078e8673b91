/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated server: functions with known shares, a daily rhythm that each function follows in its
 * own way, noise that lasts for hours, and bursts. With ASSAY_LONG=1 there are more weeks and more
 * changes.
 */
#include "view/watch/watch_find.h"

#include "check.h"

#include <math.h>
#include <stdio.h>

static uint64_t state;

static double uniform(void)
{
	return ((double)(hash_u64(++state) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double poisson(double mean)
{
	double limit = exp(-mean), product = uniform();
	int count = 0;

	if (mean > 60)
		return fmax(0, floor(mean + sqrt(mean) * normal() + 0.5));
	for (; product > limit; count++)
		product *= uniform();
	return count;
}

#define FUNCTIONS 300
#define STEP_S 600
#define DAY (86400 / STEP_S)
#define PERIOD_NS 1e7
/* The function that changes; its share is 1 %. */
#define CHANGED 5

struct server {
	size_t points;
	double samples; /* in all */
	double noise;   /* relative, lasting for hours */
	double bursts;  /* of one function, a day */
	double rhythm;  /* of the load over a day */
	double change;  /* of CHANGED, from point `at` to `until` */
	size_t at, until;
	int partner; /* function that changes by the opposite time; 0: none */
};

static double share_of(int function)
{
	return function == CHANGED ? 0.01 : 0.99 / (function + 3.0) / 4.55;
}

/* The level of a function, relative to its mean. */
static double level_of(const struct server *s, int function, size_t point)
{
	double day = 2 * M_PI * (double)(point % DAY) / DAY;
	/* Some follow the load less, or at other hours. */
	double follows = function % 7 == 3 ? 0.3 : 1, late = function % 11 == 4 ? 1.5 : 0;
	double level = exp(s->rhythm * follows * sin(day - late));
	bool changed = point >= s->at && point < s->until;

	if (changed && function == CHANGED)
		level *= 1 + s->change;
	if (changed && s->partner && function == s->partner)
		level *= 1 - s->change * 0.01 / share_of(function);
	return level;
}

static void simulate(struct watch *w, const struct server *s)
{
	watch_init(w);
	watch_points(w, UINT64_C(20000) * 86400 * 1000000000, UINT64_C(1000000000) * STEP_S,
	             s->points);
	for (size_t i = 0; i < s->points; i++)
		watch_observed(w, i, STEP_S);
	for (int f = 0; f < FUNCTIONS; f++) {
		char name[32], image[32];
		double slow = normal() * s->noise, burst = 0;
		uint32_t id;

		snprintf(name, sizeof(name), "function_%d", f);
		snprintf(image, sizeof(image), "file_%d", f / 20);
		id = watch_series(w, name, image, f % 3 ? "user" : "kernel");
		for (size_t i = 0; i < s->points; i++) {
			double mean = s->samples / (double)s->points * share_of(f), count;

			slow = 0.9 * slow + sqrt(1 - 0.81) * s->noise * normal();
			if (uniform() < s->bursts / DAY)
				burst = 1 + 2 * uniform();
			burst *= 0.5;
			mean *= level_of(s, f, i) * exp(slow) * (1 + burst);
			count = poisson(mean);
			watch_count(w, id, i, count, count * PERIOD_NS);
		}
	}
}

static const struct watch_change *change_of(const struct watch *w, const char *name)
{
	vec_each (c, &w->changes)
		if (!strcmp(intern_text(&w->texts, w->series.items[c->series].function), name))
			return c;
	return NULL;
}

static size_t regressions(const struct watch *w)
{
	size_t count = 0;

	vec_each (c, &w->changes)
		count += c->verdict == WATCH_REGRESSION;
	return count;
}

/* Against 80,000 simulated series of normal values (10,000 of 2,000 points). */
static void test_the_chance_of_the_largest_score(void)
{
	CHECK(fabs(watch_split_chance(3, 200) / 0.0535 - 1) < 0.1);
	CHECK(fabs(watch_split_chance(3.5, 200) / 0.0116 - 1) < 0.1);
	CHECK(fabs(watch_split_chance(2.5, 2000) / 0.2262 - 1) < 0.1);
	CHECK(fabs(watch_split_chance(4, 2000) / 0.0026 - 1) < 0.15);
	/* Few points: not below the truth. */
	CHECK(watch_split_chance(3, 20) > 0.0220 && watch_split_chance(3, 20) < 0.034);
}

/* 75,000 samples a side, as a machine with steady work has them. */
static void test_a_small_function_is_found(void)
{
	int runs = check_long() ? 200 : 12, found = 0, near = 0, others = 0;

	state = 1;
	for (int i = 0; i < runs; i++) {
		struct server s = {.points = 2 * DAY,
		                   .samples = 150000,
		                   .change = 0.3,
		                   .at = DAY,
		                   .until = 2 * DAY};
		const struct watch_change *c;
		struct watch w;

		simulate(&w, &s);
		watch_find(&w, NULL);
		c = change_of(&w, "function_5");
		found += c && c->verdict == WATCH_REGRESSION;
		near += c && fabs((double)c->point - DAY) < DAY / 4.0;
		others += (int)w.changes.count - (c != NULL);
		watch_done(&w);
	}
	printf("# +30 %% of 1 %% of 75,000 samples a side: found in %d of %d, time right in %d, %d "
	       "false\n",
	       found, runs, near, others);
	CHECK(found >= runs * (check_long() ? 85 : 60) / 100);
	CHECK(near >= found * 8 / 10);
	CHECK(others <= 2 + runs / 3);
}

static void test_a_week_without_changes(void)
{
	int weeks = check_long() ? 60 : 4, all = 0;

	state = 2;
	for (int i = 0; i < weeks; i++) {
		struct server s = {.points = 7 * DAY,
		                   .samples = i % 2 ? 4e5 : 1e7,
		                   .noise = 0.05,
		                   .bursts = 0.5,
		                   .rhythm = 0.5};
		struct watch w;

		simulate(&w, &s);
		watch_find(&w, NULL);
		CHECK(w.seasonal);
		vec_each (c, &w.changes)
			printf("# week %d: %s at %zu, %.2f, p %.2g, verdict %d\n", i,
			       intern_text(&w.texts, w.series.items[c->series].function), c->point,
			       c->ratio, c->p, c->verdict);
		all += (int)w.changes.count;
		watch_done(&w);
	}
	printf("# weeks without changes: %d changes in %d\n", all, weeks);
	CHECK(all <= weeks);
}

static void test_a_change_in_a_week(void)
{
	int weeks = check_long() ? 40 : 3, found = 0, others = 0;

	state = 3;
	for (int i = 0; i < weeks; i++) {
		struct server s = {.points = 7 * DAY,
		                   .samples = 2e6,
		                   .noise = 0.05,
		                   .bursts = 0.5,
		                   .rhythm = 0.5,
		                   .change = 0.3,
		                   .at = 7 * DAY / 2 + 20,
		                   .until = 7 * DAY};
		const struct watch_change *c;
		struct watch w;

		simulate(&w, &s);
		watch_find(&w, NULL);
		c = change_of(&w, "function_5");
		found += c && c->verdict == WATCH_REGRESSION && c->low > 1.1 && c->high < 1.5;
		others += (int)w.changes.count - (c != NULL);
		watch_done(&w);
	}
	printf("# a change in a week with rhythm: found in %d of %d, %d others\n", found, weeks,
	       others);
	CHECK(found >= weeks * 8 / 10);
	CHECK(others <= 2 * weeks);
}

static void test_changes_that_are_no_regressions(void)
{
	struct server s = {
	        .points = 4 * DAY, .samples = 4e6, .change = 0.5, .at = DAY, .until = 2 * DAY};
	const struct watch_change *c;
	struct watch w;

	state = 4;
	simulate(&w, &s);
	watch_find(&w, NULL);
	c = change_of(&w, "function_5");
	CHECK(c && c->verdict == WATCH_WENT_AWAY);
	CHECK(c && fabs((double)c->back - 2 * DAY) < 10);
	CHECK_EQ(regressions(&w), 0);
	watch_done(&w);

	s.until = s.points;
	s.partner = 7;
	simulate(&w, &s);
	watch_find(&w, NULL);
	c = change_of(&w, "function_5");
	CHECK(c && c->verdict == WATCH_MOVED);
	c = change_of(&w, "function_7");
	CHECK(c && c->verdict == WATCH_MOVED);
	CHECK_EQ(regressions(&w), 0);
	watch_done(&w);
}

/* 20 functions of 100 samples at each point; one of them from `at` until `until` alone. */
static void count_steady(struct watch *w, size_t points, size_t at, size_t until)
{
	watch_init(w);
	watch_points(w, 0, 1000000000, points);
	for (uint32_t f = 0; f < 20; f++) {
		char name[16];
		uint32_t id;

		snprintf(name, sizeof(name), "f%u", f);
		id = watch_series(w, name, "prog", "user");
		for (size_t i = 0; i < points; i++) {
			/* The load of the machine doubles in the middle. */
			double mean = i < points / 2 ? 100 : 200;

			watch_observed(w, i, f ? 0 : 1);
			if (f || (i >= at && i < until))
				watch_count(w, id, i, poisson(mean), 1e6 * mean);
		}
	}
}

static void test_functions_that_appear_and_vanish(void)
{
	struct watch w;

	state = 5;
	count_steady(&w, 100, 0, 100);
	watch_find(&w, NULL);
	CHECK_EQ(w.changes.count, 0);
	watch_done(&w);

	count_steady(&w, 100, 30, 100);
	watch_find(&w, NULL);
	CHECK_EQ(w.changes.count, 1);
	CHECK(w.changes.count && w.changes.items[0].verdict == WATCH_NEW);
	CHECK(w.changes.count && w.changes.items[0].point == 30);
	watch_done(&w);

	count_steady(&w, 100, 0, 70);
	watch_find(&w, NULL);
	CHECK_EQ(w.changes.count, 1);
	CHECK(w.changes.count && w.changes.items[0].verdict == WATCH_GONE);
	watch_done(&w);
}

/* One function of 20 becomes slower by 2 % at each of 60 points, or at once at point `at`. */
static void count_slower(struct watch *w, size_t at)
{
	watch_init(w);
	watch_points(w, 0, 1000000000, 60);
	for (uint32_t f = 0; f < 20; f++) {
		char name[16];
		uint32_t id;

		snprintf(name, sizeof(name), "f%u", f);
		id = watch_series(w, name, "prog", "user");
		for (size_t i = 0; i < w->points; i++) {
			double slower = !at ? pow(1.02, (double)i) : i >= at ? 2 : 1;
			double count = poisson(100 * (f ? 1 : slower));

			watch_observed(w, i, f ? 0 : 1);
			watch_count(w, id, i, count, 1e6 * count);
		}
	}
}

static void test_windows_are_searched_one_by_one(void)
{
	struct watch_options windows = {.window = 6};
	struct watch w;

	state = 6;
	count_slower(&w, 0);
	watch_find(&w, NULL);
	CHECK(change_of(&w, "f0"));
	watch_done(&w);
	count_slower(&w, 0);
	watch_find(&w, &windows);
	CHECK_EQ(w.changes.count, 0); /* drift is slow: six points do not show it */
	watch_done(&w);

	/* A change is found in the last window too, which is moved to the end. */
	windows.window = 14;
	for (size_t at = 6; at <= 54; at += 6) {
		const struct watch_change *c;

		count_slower(&w, at);
		watch_find(&w, &windows);
		c = change_of(&w, "f0");
		CHECK_EQ(w.changes.count, 1);
		CHECK(c && c->verdict == WATCH_REGRESSION && c->point + 1 >= at &&
		      c->point <= at + 1);
		watch_done(&w);
	}
}

static void test_costs_are_divided_by_work(void)
{
	struct watch w;

	/* The load doubles in the middle, and the work too. */
	state = 7;
	count_steady(&w, 100, 0, 100);
	for (size_t i = 0; i < w.points; i++)
		watch_work(&w, i, i < 50 ? 1000 : 2000);
	watch_find(&w, NULL);
	CHECK_EQ(w.changes.count, 0);
	watch_done(&w);

	/* The work does not: all functions cost twice as much. */
	count_steady(&w, 100, 0, 100);
	for (size_t i = 0; i < w.points; i++)
		watch_work(&w, i, 1000);
	watch_work(&w, w.points, 1000); /* no such point */
	watch_find(&w, NULL);
	CHECK_EQ(w.changes.count, 20);
	CHECK_EQ(regressions(&w), 20);
	vec_each (c, &w.changes)
		CHECK(c->point == 50 && c->ratio > 1.9 && c->ratio < 2.1 && c->before > 0.9e5 &&
		      c->before < 1.1e5);
	watch_done(&w);
}

static void test_little_or_no_data(void)
{
	struct watch w;

	watch_init(&w);
	watch_points(&w, 0, 1000000000, 0);
	watch_find(&w, NULL);
	CHECK_EQ(w.changes.count, 0);
	watch_done(&w);

	watch_init(&w);
	watch_points(&w, 0, 1000000000, 10);
	watch_count(&w, watch_series(&w, "f", "i", "user"), 3, 500, 500);
	watch_find(&w, NULL);
	CHECK_EQ(w.changes.count, 0);
	watch_done(&w);
}

int main(void)
{
	RUN(test_the_chance_of_the_largest_score);
	RUN(test_a_small_function_is_found);
	RUN(test_a_week_without_changes);
	RUN(test_a_change_in_a_week);
	RUN(test_changes_that_are_no_regressions);
	RUN(test_windows_are_searched_one_by_one);
	RUN(test_costs_are_divided_by_work);
	RUN(test_functions_that_appear_and_vanish);
	RUN(test_little_or_no_data);
	return check_end();
}
