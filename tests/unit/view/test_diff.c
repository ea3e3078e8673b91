/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff.h"
#include "view/diff/diff_groups.h"
#include "view/diff/diff_join.h"
#include "view/diff/diff_scatter.h"
#include "view/diff/diff_stacks.h"

#include "check.h"

#include <math.h>
#include <stdio.h>

/* --- simulated runs: the same numbers in each run of the test --- */

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

#define FUNCTIONS 60
#define SAMPLES 9000
#define PERIOD_NS 200000.0
/* Relative changes of a function's time between runs. */
#define SCATTER 0.03

/* Adds the samples of a function, spread over the run's windows. */
static void add_function(struct diff_runs *t, uint32_t run, const char *name, double mean)
{
	uint32_t row = diff_runs_row(t, name, "program", "user", DIFF_USER);
	uint32_t path = diff_runs_path(t, DIFF_NO_PATH, row);

	mean *= exp(SCATTER * normal());
	for (unsigned i = 0; i < DIFF_WINDOWS; i++) {
		double count = poisson(mean / DIFF_WINDOWS);

		diff_run_count(t, run, path, count, count * PERIOD_NS);
		diff_run_window(t, run, row, i, count);
	}
}

/* Functions with shares like those of real programs, and one with 1 % x factor. */
static void add_run(struct diff_runs *t, enum diff_side side, double factor)
{
	uint32_t run = diff_runs_add(t, side, "run", 1);
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		sum += 1.0 / (i + 3);
	for (int i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		add_function(t, run, name, 0.99 * SAMPLES / (i + 3) / sum);
	}
	add_function(t, run, "target", 0.01 * SAMPLES * factor);
}

static void simulate(struct diff_runs *t, int runs, double factor)
{
	diff_runs_init(t);
	for (int i = 0; i < runs; i++) {
		add_run(t, DIFF_A, 1);
		add_run(t, DIFF_B, factor);
	}
}

/* --- the parts of a comparison --- */

static const struct diff_change *change_of(const struct diff *d, const char *name)
{
	vec_each (change, &d->changes)
		if (change->row != ID_NONE &&
		    !strcmp(intern_text(&d->runs->texts, d->runs->rows.items[change->row].function),
		            name))
			return change;
	return NULL;
}

struct score {
	double found, covered, false_alarms; /* parts of all comparisons */
};

static struct score score(int runs, double factor, int comparisons)
{
	struct score s = {0};

	for (int i = 0; i < comparisons; i++) {
		struct diff_runs t;
		const struct diff_change *target;
		struct diff *d;
		size_t others = 0;

		simulate(&t, runs, factor);
		d = diff_new(&t, NULL);
		target = change_of(d, "target");
		vec_each (change, &d->changes)
			others += change != target && diff_is_change(&change->e);
		s.found += diff_is_change(&target->e) / (double)comparisons;
		s.covered +=
		        (target->e.low <= factor && factor <= target->e.high) / (double)comparisons;
		s.false_alarms += (others > 0) / (double)comparisons;
		diff_free(d);
		diff_runs_done(&t);
	}
	printf("# %d a side, x %.1f: found %.3f, covered %.3f, false alarms %.3f\n", runs, factor,
	       s.found, s.covered, s.false_alarms);
	return s;
}

/* The seeds are fixed, so each figure is always the same. */
static void changes_are_found(void)
{
	int comparisons = check_long() ? 1000 : 60;

	state = 1;
	CHECK(score(8, 1.3, comparisons).found >= 0.85);
	CHECK(score(16, 1.2, comparisons).found >= 0.85);
	CHECK(score(1, 2, check_long() ? 2000 : 300).found >= 0.8);
}

static void equal_programs_have_no_changes(void)
{
	int comparisons = check_long() ? 1000 : 60;
	struct score s;

	state = 2;
	s = score(5, 1, comparisons);
	CHECK(s.false_alarms <= 0.05 && s.covered >= 0.93);
	s = score(1, 1, comparisons);
	CHECK(s.false_alarms <= 0.05 && s.covered >= 0.93);
}

/* The verdict of a kernel function with 5 samples in each run of A, and 150 in each of B. */
static enum diff_verdict verdict_of_kernel(const char *name, int runs)
{
	struct diff_runs t;
	struct diff *d;
	enum diff_verdict verdict;

	simulate(&t, runs, 1);
	for (uint32_t run = 0; run < t.runs.count; run++) {
		uint32_t row = diff_runs_row(&t, name, "[kernel]", "kernel", DIFF_KERNEL);
		double samples = t.runs.items[run].side == DIFF_A ? 5 : 150;

		diff_run_count(&t, run, diff_runs_path(&t, DIFF_NO_PATH, row), samples,
		               samples * PERIOD_NS);
	}
	d = diff_new(&t, NULL);
	verdict = change_of(d, name)->e.verdict;
	diff_free(d);
	diff_runs_done(&t);
	return verdict;
}

/* The time of the kernel to clear pages depends on the free memory of the moment. */
static void single_recordings_show_no_change_of_pages(void)
{
	state = 3;
	CHECK_EQ(verdict_of_kernel("do_sys_poll", 1), DIFF_CHANGED);
	CHECK_EQ(verdict_of_kernel("clear_page_erms", 1), DIFF_SAME);
	CHECK_EQ(verdict_of_kernel("clear_page_erms", 5), DIFF_CHANGED);
}

static void count(struct diff_runs *t, uint32_t run, uint32_t path, double samples)
{
	diff_run_count(t, run, path, samples, samples * PERIOD_NS);
}

/* Two paths of one function; `caller` calls both sides of an inlining. */
static void moved_time_is_no_change(void)
{
	struct diff_runs t;
	struct diff *d;

	diff_runs_init(&t);
	for (int i = 0; i < 10; i++) {
		uint32_t run = diff_runs_add(&t, i % 2, "run", 1);
		uint32_t rows[] = {diff_runs_row(&t, "main", "program", "user", DIFF_USER),
		                   diff_runs_row(&t, "caller", "program", "user", DIFF_USER),
		                   diff_runs_row(&t, "inlined", "program", "user", DIFF_USER)};
		uint32_t outer = diff_runs_path(&t, DIFF_NO_PATH, rows[0]);
		uint32_t caller = diff_runs_path(&t, outer, rows[1]);
		uint32_t inlined = diff_runs_path(&t, caller, rows[2]);

		count(&t, run, outer, 5000 + 10 * (i % 3));
		count(&t, run, caller, i % 2 ? 900 + i % 3 : 300 + i % 3);
		count(&t, run, inlined, i % 2 ? 0 : 600);
	}
	d = diff_new(&t, NULL);
	CHECK(change_of(d, "inlined")->e.verdict == DIFF_GONE);
	CHECK(change_of(d, "caller")->e.verdict == DIFF_CHANGED);
	CHECK(change_of(d, "main")->e.verdict == DIFF_SAME);
	CHECK(change_of(d, "caller")->moved == change_of(d, "caller")->row);
	CHECK(change_of(d, "inlined")->moved == change_of(d, "caller")->row);
	CHECK(change_of(d, "main")->moved == ID_NONE);
	CHECK(d->whole.verdict == DIFF_SAME && d->strength == DIFF_STRONG && d->paired);
	diff_free(d);
	diff_runs_done(&t);
}

/* A rate twice as high gives twice the samples of half the period; work twice as much, too. */
static void rates_and_work_are_normalised(void)
{
	struct diff_runs t;
	struct diff *d;

	diff_runs_init(&t);
	for (int i = 0; i < 10; i++) {
		int side = i % 2;
		uint32_t run = diff_runs_add(&t, side, "run", side ? 2 : 1);
		uint32_t row = diff_runs_row(&t, "f", "program", "user", DIFF_USER);
		uint32_t path = diff_runs_path(&t, DIFF_NO_PATH, row);
		double samples = side ? 4000 : 1000;

		diff_run_count(&t, run, path, samples + i, (samples + i) * 1e6 / (side ? 2 : 1));
	}
	d = diff_new(&t, NULL);
	CHECK(change_of(d, "f")->e.verdict == DIFF_SAME);
	CHECK(fabs(change_of(d, "f")->e.ratio - 1) < 0.01);
	CHECK(fabs(d->whole.ratio - 1) < 0.01 && fabs(d->whole.before - 1e9) < 1e7);
	diff_free(d);
	diff_runs_done(&t);
}

/* Two runs with the same number of samples do not prove that runs do not vary. */
static void equal_runs_have_an_interval(void)
{
	for (int runs = 2; runs <= 6; runs++) {
		struct diff_runs t;
		struct diff *d;

		diff_runs_init(&t);
		for (int i = 0; i < 2 * runs; i++) {
			uint32_t run = diff_runs_add(&t, i % 2, "run", 1);
			uint32_t row = diff_runs_row(&t, "f", "program", "user", DIFF_USER);

			count(&t, run, diff_runs_path(&t, DIFF_NO_PATH, row), i % 2 ? 61 : 60);
		}
		d = diff_new(&t, NULL);
		CHECK(d->whole.low < 1 && d->whole.high > 1.03);
		CHECK(d->whole.verdict == DIFF_SAME);
		CHECK(d->smallest_whole > 0.01);
		vec_each (change, &d->changes)
			CHECK(change->e.low < 0.9 && change->e.high > 1.1);
		diff_free(d);
		diff_runs_done(&t);
	}
}

static void empty_sides_are_no_error(void)
{
	struct diff_runs t;
	struct diff *d;

	for (int i = 0; i < 4; i++) {
		diff_runs_init(&t);
		if (i & 1)
			add_run(&t, DIFF_A, 1);
		if (i & 2)
			diff_runs_add(&t, DIFF_B, "empty", 1);
		d = diff_new(&t, NULL);
		CHECK(d->whole.verdict == DIFF_SAME);
		vec_each (change, &d->changes)
			CHECK(!diff_is_change(&change->e) || change->e.verdict == DIFF_GONE);
		diff_free(d);
		diff_runs_done(&t);
	}
}

/* prog-1 becomes prog-2, and liba.so becomes libb.so; functions of one side stay so. */
static void renamed_programs_are_joined(void)
{
	struct diff_runs t;
	struct diff *d;

	diff_runs_init(&t);
	for (int i = 0; i < 6; i++) {
		int side = i % 2;
		const char *program = side ? "prog-2" : "prog-1";
		uint32_t run = diff_runs_add(&t, side, "run", 1);
		uint32_t outer = diff_runs_path(
		        &t, DIFF_NO_PATH, diff_runs_row(&t, "main", program, "user", DIFF_USER));
		uint32_t row =
		        diff_runs_row(&t, side ? "more" : "less", program, "user", DIFF_USER);

		count(&t, run, outer, 1000);
		count(&t, run, diff_runs_path(&t, outer, row), 300);
		row = diff_runs_row(&t, "other", side ? "libb.so" : "liba.so", "user", DIFF_USER);
		count(&t, run, diff_runs_path(&t, outer, row), 200);
		if (side)
			count(&t, run,
			      diff_runs_path(
			              &t, DIFF_NO_PATH,
			              diff_runs_row(&t, "only", "libb.so", "user", DIFF_USER)),
			      200);
		diff_run_window(&t, run, row, 3, 200);
	}
	diff_join_images(&t);
	CHECK_EQ(t.joined.count, 2);
	d = diff_new(&t, NULL);
	CHECK(change_of(d, "main")->e.verdict == DIFF_SAME);
	CHECK(change_of(d, "main")->e.count[DIFF_A] == 3000);
	CHECK(change_of(d, "main")->e.count[DIFF_B] == 3000);
	CHECK(change_of(d, "other")->e.verdict == DIFF_SAME);
	CHECK(change_of(d, "only")->e.verdict == DIFF_NEW);
	CHECK(change_of(d, "less")->e.verdict == DIFF_GONE);
	diff_free(d);
	diff_runs_done(&t);
}

/* Two programs with the same small library in them, as an assembler and a linker. */
static void programs_with_a_common_library_are_not_joined(void)
{
	struct diff_runs t;

	diff_runs_init(&t);
	for (int side = 0; side < 2; side++) {
		const char *program = side ? "linker" : "assembler";
		uint32_t run = diff_runs_add(&t, side, "run", 1);
		static const char *const names[] = {"main", "hash", "copy"};

		count(&t, run,
		      diff_runs_path(&t, DIFF_NO_PATH,
		                     diff_runs_row(&t, side ? "link" : "parse", program, "user",
		                                   DIFF_USER)),
		      1000);
		for (int i = 0; i < 3; i++)
			count(&t, run,
			      diff_runs_path(
			              &t, DIFF_NO_PATH,
			              diff_runs_row(&t, names[i], program, "user", DIFF_USER)),
			      50);
	}
	diff_join_images(&t);
	CHECK_EQ(t.joined.count, 0);
	diff_runs_done(&t);
}

/* A helper of the kernel counts for its callers, and its windows are divided among them. */
static void groups_have_all_counts_and_windows(void)
{
	struct group_rules *r = group_rules_new();
	struct diff_runs t, g;
	uint32_t run, net, disk, helper, main_row;
	struct diff_row wanted = {0};

	group_rules_rule(r, "net", "tcp_*");
	group_rules_rule(r, "disk", "ext4_*");
	group_rules_rule(r, "caller", "kernel!");
	group_rules_rule(r, "caller", "memcpy");
	diff_runs_init(&t);
	diff_runs_init(&g);
	run = diff_runs_add(&t, DIFF_A, "a", 2);
	diff_runs_add(&t, DIFF_B, "b", 1);
	net = diff_runs_row(&t, "tcp_x", "[kernel]", "kernel", DIFF_KERNEL);
	disk = diff_runs_row(&t, "ext4_x", "[kernel]", "kernel", DIFF_KERNEL);
	helper = diff_runs_row(&t, "memcpy", "[kernel]", "kernel", DIFF_KERNEL);
	main_row = diff_runs_row(&t, "main", "prog", "user", DIFF_USER);
	net = diff_runs_path(&t, diff_runs_path(&t, DIFF_NO_PATH, main_row), net);
	disk = diff_runs_path(&t, DIFF_NO_PATH, disk);
	diff_run_count(&t, run, 1, 5, 50);
	diff_run_count(&t, run, diff_runs_path(&t, net, helper), 3, 30);
	diff_run_count(&t, run, diff_runs_path(&t, disk, helper), 1, 10);
	diff_run_window(&t, run, helper, 7, 4);
	diff_runs_group(&g, &t, r);
	CHECK_EQ(g.rows.count, 3);
	CHECK(g.groups && !g.call_paths);
	CHECK(g.runs.items[0].work == 2 && g.count[DIFF_A] == 1 && g.count[DIFF_B] == 1);
	wanted.function = wanted.image = intern_find(&g.texts, "net");
	wanted.mode = intern_find(&g.texts, "");
	net = diff_runs_find(&g, &wanted);
	CHECK_EQ(g.rows.items[net].class, DIFF_KERNEL);
	CHECK(g.runs.items[0].windows.items[net * DIFF_WINDOWS + 7] == 3);
	net = diff_runs_path(&g, DIFF_NO_PATH, net);
	CHECK(g.runs.items[0].paths.items[net].count == 3);
	CHECK(g.runs.items[0].paths.items[net].cpu_ns == 30);
	diff_runs_done(&g);
	diff_runs_done(&t);
	group_rules_free(r);
}

/* The sum of a function on a path; -1: none. `path`: innermost function first. */
static int64_t stacks_value(const struct symbolized_profile *n, const char *const *path,
                            unsigned value)
{
	vec_each (row, &n->rows) {
		uint32_t at = row->path;
		const char *const *want = path;

		for (; at != NAMED_ROOT && *want; at = n->paths.items[at].parent, want++) {
			uint32_t function = named_place_function(n, n->paths.items[at].place);

			if (strcmp(intern_text(&n->texts, n->functions.items[function].name),
			           *want))
				break;
		}
		if (at == NAMED_ROOT && !*want)
			return row->values[value];
	}
	return -1;
}

/* main calls f; in B, the program has another name. Only the first run of B has f alone. */
static void a_side_is_the_sum_of_its_runs(void)
{
	static const char *const main_path[] = {"main", NULL},
	                         *const f_path[] = {"f", "main", NULL},
	                         *const alone[] = {"f", NULL};
	struct symbolized_profile n[DIFF_SIDES];
	struct diff_runs t;

	diff_runs_init(&t);
	for (int i = 0; i < 4; i++) {
		enum diff_side side = i < 2 ? DIFF_A : DIFF_B;
		uint32_t run = diff_runs_add(&t, side, "x.data", 2);
		const char *image = side == DIFF_A ? "old" : "new";
		uint32_t f = diff_runs_row(&t, "f", image, "user", DIFF_USER);
		uint32_t main = diff_runs_path(&t, DIFF_NO_PATH,
		                               diff_runs_row(&t, "main", image, "user", DIFF_USER));

		diff_run_count(&t, run, main, 1, 10.5);
		diff_run_count(&t, run, diff_runs_path(&t, main, f), 100, 1000);
		if (i == 2)
			diff_run_count(&t, run, diff_runs_path(&t, DIFF_NO_PATH, f), 7, 70);
	}
	vec_push(&t.joined,
	         (struct diff_joined){intern_find(&t.texts, "old"), intern_find(&t.texts, "new")});
	for (enum diff_side side = DIFF_A; side < DIFF_SIDES; side++) {
		symbolized_profile_init(&n[side]);
		diff_stacks(&n[side], &t, side);
		CHECK_EQ(stacks_value(&n[side], main_path, 0), 2);
		CHECK_EQ(stacks_value(&n[side], main_path, 1), 21);
		CHECK_EQ(stacks_value(&n[side], f_path, 0), 200);
		CHECK_EQ(stacks_value(&n[side], f_path, 1), 2000);
		CHECK_EQ(stacks_value(&n[side], alone, 0), side == DIFF_A ? -1 : 7);
		CHECK_EQ(n[side].images.count, 1);
		CHECK_STR(intern_text(&n[side].texts, n[side].images.items[0].name), "old");
		CHECK_EQ(diff_stacks_work(&t, side), 4);
		symbolized_profile_done(&n[side]);
	}
	diff_runs_done(&t);
}

/* By numbers: 4 degrees of the class, 12 of the row. */
static void a_row_and_its_class_are_weighted_by_their_degrees(void)
{
	const struct diff_scatter class = {1, 0.01, 4};
	double degrees;

	CHECK(fabs(diff_scatter_shrink(&class, 300, 1.5, 12, &degrees) - 2.125) < 1e-9);
	CHECK(degrees == 16);
	/* A row that scatters far more than its class does not predict is by itself. */
	CHECK(diff_scatter_shrink(&class, 300, 400, 12, &degrees) == 400);
	CHECK(degrees == 12);
	/* Chance is the least. */
	CHECK(diff_scatter_shrink(&class, 1, 0, 12, &degrees) == 1);
}

int main(void)
{
	RUN(a_row_and_its_class_are_weighted_by_their_degrees);
	RUN(renamed_programs_are_joined);
	RUN(programs_with_a_common_library_are_not_joined);
	RUN(moved_time_is_no_change);
	RUN(rates_and_work_are_normalised);
	RUN(equal_runs_have_an_interval);
	RUN(empty_sides_are_no_error);
	RUN(changes_are_found);
	RUN(equal_programs_have_no_changes);
	RUN(single_recordings_show_no_change_of_pages);
	RUN(groups_have_all_counts_and_windows);
	RUN(a_side_is_the_sum_of_its_runs);
	return check_end();
}
