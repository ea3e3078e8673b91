/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile.h"
#include "view/reconcile/reconcile_fold.h"

#include "check.h"

#include <math.h>
#include <string.h>

#define MS 1e6
#define RUNS 5

/* One process with a function that both methods measure, and one "rest" of 100 ms. */
struct made {
	struct reconcile_runs t;
	uint32_t f, rest, outside; /* rows */
	uint32_t runs[RECONCILE_SIDES][RUNS];
};

static uint32_t counted_row(struct made *m, const char *name)
{
	uint32_t function = reconcile_function(&m->t, name, "/bin/prog", false);

	reconcile_set_counted(&m->t, function);
	m->t.functions.items[function].sampled = true;
	return reconcile_row(&m->t, "prog", function);
}

static struct reconcile_sum *sum(struct made *m, enum reconcile_side side, int run, uint32_t row)
{
	return reconcile_sum_of(&m->t, m->runs[side][run], row);
}

/* The times of f in ms; runs scatter by 1 %. */
static void make(struct made *m, double sampled, double counted)
{
	static const double scatter[RUNS] = {0.99, 1.01, 1, 1.005, 0.995};

	reconcile_runs_init(&m->t);
	m->f = counted_row(m, "f");
	m->rest = counted_row(m, "rest");
	m->outside = reconcile_row(&m->t, "prog", reconcile_outside(&m->t));
	for (int run = 0; run < RUNS; run++) {
		m->runs[RECONCILE_COUNTED][run] = reconcile_runs_add(&m->t, RECONCILE_COUNTED, "c");
		m->runs[RECONCILE_SAMPLED][run] = reconcile_runs_add(&m->t, RECONCILE_SAMPLED, "s");
		m->t.runs.items[m->runs[RECONCILE_SAMPLED][run]].chains = true;
		sum(m, RECONCILE_SAMPLED, run, m->f)->cpu_ns = sampled * MS * scatter[run];
		sum(m, RECONCILE_COUNTED, run, m->f)->cpu_ns = counted * MS * scatter[4 - run];
		sum(m, RECONCILE_COUNTED, run, m->f)->count = 1000;
		sum(m, RECONCILE_SAMPLED, run, m->rest)->cpu_ns = 100 * MS * scatter[run];
		sum(m, RECONCILE_COUNTED, run, m->rest)->cpu_ns = 100 * MS * scatter[run];
		sum(m, RECONCILE_COUNTED, run, m->rest)->count = 10;
	}
}

static const struct reconcile_line *line_of(const struct reconcile *r, uint32_t row)
{
	vec_each (line, &r->lines)
		if (line->row == row)
			return line;
	return NULL;
}

/* Judges f and frees all. */
static void expect(struct made *m, enum reconcile_verdict verdict, enum reconcile_reason reason)
{
	struct reconcile *r = reconcile_new(&m->t, 0.001);
	const struct reconcile_line *line = line_of(r, m->f);

	CHECK(line != NULL);
	CHECK_EQ(line->verdict, verdict);
	CHECK_EQ(line->reason, reason);
	reconcile_free(r);
	reconcile_runs_done(&m->t);
}

#define EACH_RUN for (int run = 0; run < RUNS; run++)

static void test_equal_times_agree(void)
{
	struct made m;

	make(&m, 20, 20.1);
	expect(&m, RECONCILE_AGREE, REASON_NONE);
}

static void test_a_difference_below_two_percent_is_none(void)
{
	struct made m;

	make(&m, 20, 20.39);
	expect(&m, RECONCILE_AGREE, REASON_NONE);
}

/* Figures that no sample supports do not agree. */
static void test_a_function_without_samples_does_not_agree(void)
{
	struct made m;

	make(&m, 0, 0.3);
	EACH_RUN
	{
		sum(&m, RECONCILE_SAMPLED, run, m.f)->error_ns = 0.9 * MS;
		sum(&m, RECONCILE_COUNTED, run, m.f)->system_ns = 0.01 * MS;
	}
	expect(&m, RECONCILE_CANNOT_TELL, REASON_FEW_SAMPLES);
	make(&m, 0.3, 0);
	EACH_RUN
	{
		sum(&m, RECONCILE_SAMPLED, run, m.f)->error_ns = 0.9 * MS;
		sum(&m, RECONCILE_COUNTED, run, m.f)->count = 0;
	}
	expect(&m, RECONCILE_CANNOT_TELL, REASON_FEW_SAMPLES);
}

/* An interval of 10 ms of 20 ms must become one of a quarter, 5 ms: four times the runs. */
static void test_the_length_of_runs_that_decide(void)
{
	struct reconcile *r;
	struct made m;

	make(&m, 20, 20);
	EACH_RUN sum(&m, RECONCILE_SAMPLED, run, m.f)->error_ns = 10 * MS * sqrt(RUNS);
	r = reconcile_new(&m.t, 0.001);
	CHECK(fabs(r->longer - 4) < 0.1);
	CHECK(fabs(r->decided - 1) < 1e-9);
	CHECK(fabs(r->shares[RECONCILE_CANNOT_TELL] - 20.0 / 120) < 0.01);
	CHECK(fabs(r->shares[RECONCILE_AGREE] - 100.0 / 120) < 0.01);
	CHECK(fabs(r->run_ns / MS - 120) < 1);
	reconcile_free(r);
	reconcile_runs_done(&m.t);
}

static void test_a_difference_without_a_cause_is_unknown(void)
{
	struct made m;

	make(&m, 20, 30);
	expect(&m, RECONCILE_DIFFER, REASON_UNKNOWN);
	make(&m, 30, 20);
	expect(&m, RECONCILE_DIFFER, REASON_UNKNOWN);
}

/* Of 40 functions, two are beyond their 95 % intervals by chance. */
static void test_one_of_many_functions_may_differ_by_chance(void)
{
	struct made m;

	make(&m, 20, 21.2);
	EACH_RUN sum(&m, RECONCILE_SAMPLED, run, m.f)->error_ns = 2 * MS;
	expect(&m, RECONCILE_DIFFER, REASON_UNKNOWN);
	make(&m, 20, 21.2);
	EACH_RUN sum(&m, RECONCILE_SAMPLED, run, m.f)->error_ns = 2 * MS;
	for (int i = 0; i < 38; i++) {
		char name[16];
		uint32_t row;

		snprintf(name, sizeof(name), "other%d", i);
		row = counted_row(&m, name);
		EACH_RUN
		{
			sum(&m, RECONCILE_SAMPLED, run, row)->cpu_ns = 10 * MS;
			sum(&m, RECONCILE_COUNTED, run, row)->cpu_ns = 10 * MS;
		}
	}
	expect(&m, RECONCILE_CANNOT_TELL, REASON_CHANCE);
}

static void test_wide_intervals_of_samples_do_not_tell(void)
{
	struct made m;

	make(&m, 20, 21);
	EACH_RUN
	sum(&m, RECONCILE_SAMPLED, run, m.f)->error_ns = 25 * MS;
	expect(&m, RECONCILE_CANNOT_TELL, REASON_FEW_SAMPLES);
}

static void test_an_uncertain_cost_of_short_calls_does_not_tell(void)
{
	struct made m;

	make(&m, 20, 24);
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->system_ns = 12 * MS;
	expect(&m, RECONCILE_CANNOT_TELL, REASON_SHORT_CALLS);
}

static void test_scatter_between_runs_does_not_tell(void)
{
	struct made m;

	make(&m, 20, 21);
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->cpu_ns = (10 + 6 * run) * MS;
	expect(&m, RECONCILE_CANNOT_TELL, REASON_SCATTER);
}

static void test_waiting_that_is_not_separated_is_a_reason(void)
{
	struct made m;
	struct reconcile_account account = {.unseparated = true};

	make(&m, 20, 50);
	account.process = m.t.rows.items[m.f].process;
	vec_push(&m.t.runs.items[m.runs[RECONCILE_COUNTED][0]].accounts, account);
	expect(&m, RECONCILE_DIFFER, REASON_WAITING);
}

static void test_different_numbers_of_calls_are_other_work(void)
{
	struct made m;

	make(&m, 20, 30);
	sum(&m, RECONCILE_COUNTED, 2, m.f)->count = 1100;
	expect(&m, RECONCILE_DIFFER, REASON_WORK);
}

static void test_samples_without_call_paths_are_a_reason(void)
{
	struct made m;

	make(&m, 20, 30);
	EACH_RUN
	m.t.runs.items[m.runs[RECONCILE_SAMPLED][run]].chains = false;
	expect(&m, RECONCILE_DIFFER, REASON_NO_CHAINS);
}

static void test_cut_stacks_are_a_reason_for_missing_time(void)
{
	struct made m;

	make(&m, 20, 30);
	EACH_RUN
	{
		sum(&m, RECONCILE_SAMPLED, run, m.outside)->cpu_ns = 10 * MS;
		sum(&m, RECONCILE_SAMPLED, run, m.outside)->cut_ns = 10 * MS;
	}
	expect(&m, RECONCILE_DIFFER, REASON_CUT_STACKS);
}

static void test_a_function_that_no_sample_has_is_inlined(void)
{
	struct made m;

	make(&m, 0, 30);
	m.t.functions.items[m.t.rows.items[m.f].function].sampled = false;
	expect(&m, RECONCILE_DIFFER, REASON_INLINED);
}

static void test_a_caller_contains_its_inlined_callee(void)
{
	struct made m;
	uint32_t callee, caller;

	make(&m, 50, 20);
	callee = counted_row(&m, "callee");
	m.t.functions.items[m.t.rows.items[callee].function].sampled = false;
	caller = reconcile_path(&m.t, 0, m.f, 20 * MS * RUNS);
	reconcile_path(&m.t, caller, callee, 30 * MS * RUNS);
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, callee)->cpu_ns = 30 * MS;
	expect(&m, RECONCILE_DIFFER, REASON_INLINES);
}

static void test_a_tail_call_is_in_its_caller(void)
{
	struct made m;
	uint32_t caller, row;

	make(&m, 5, 20);
	m.t.native = true;
	m.t.native_name = m.t.counted_name = "prog";
	row = counted_row(&m, "caller");
	caller = reconcile_path(&m.t, 0, row, 10 * MS * RUNS);
	reconcile_path(&m.t, caller, m.f, 20 * MS * RUNS);
	EACH_RUN
	{
		sum(&m, RECONCILE_COUNTED, run, row)->cpu_ns = 10 * MS;
		sum(&m, RECONCILE_SAMPLED, run, row)->cpu_ns = 24 * MS;
	}
	expect(&m, RECONCILE_DIFFER, REASON_IN_CALLERS);
}

static void test_time_outside_is_start_and_exit(void)
{
	struct made m;

	make(&m, 20, 20);
	EACH_RUN
	sum(&m, RECONCILE_SAMPLED, run, m.outside)->cpu_ns = 8 * MS;
	m.f = m.outside;
	expect(&m, RECONCILE_DIFFER, REASON_START);
}

static void test_taking_samples_takes_time(void)
{
	struct made m;

	make(&m, 21, 20);
	EACH_RUN
	sum(&m, RECONCILE_SAMPLED, run, m.f)->count = 42;
	expect(&m, RECONCILE_DIFFER, REASON_SAMPLING);
}

static void test_hooks_that_do_nothing_take_time(void)
{
	struct made m;

	make(&m, 24, 20);
	m.t.idle_hooks = true;
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->count = 1000000;
	expect(&m, RECONCILE_DIFFER, REASON_IDLE_HOOKS);
}

static void test_hooks_change_the_code_of_a_native_program(void)
{
	struct made m;

	make(&m, 20, 24);
	m.t.native = true;
	m.t.native_name = m.t.counted_name = "prog";
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->count = 1000000;
	expect(&m, RECONCILE_DIFFER, REASON_CHANGED_CODE);
}

static void test_switches_are_held_off_from_samples(void)
{
	struct made m;

	make(&m, 20, 24);
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->switches = 200;
	expect(&m, RECONCILE_DIFFER, REASON_SWITCHES);
}

static void test_the_cost_of_counting_is_a_reason(void)
{
	struct made m;

	make(&m, 20, 24);
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->cost_ns = 10 * MS;
	expect(&m, RECONCILE_DIFFER, REASON_COST);
	make(&m, 20, 40);
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->cost_ns = 10 * MS;
	expect(&m, RECONCILE_DIFFER, REASON_UNKNOWN);
}

static void test_late_samples_are_a_reason(void)
{
	struct made m;

	make(&m, 30, 20);
	EACH_RUN
	sum(&m, RECONCILE_SAMPLED, run, m.f)->delayed_ns = 9 * MS;
	expect(&m, RECONCILE_DIFFER, REASON_DELAY);
}

static void test_a_program_in_step_is_a_reason(void)
{
	struct made m;

	make(&m, 30, 20);
	EACH_RUN sum(&m, RECONCILE_SAMPLED, run, m.f)->in_step = true;
	expect(&m, RECONCILE_DIFFER, REASON_IN_STEP);
	make(&m, 30, 20);
	sum(&m, RECONCILE_SAMPLED, 1, m.f)->in_step = true;
	expect(&m, RECONCILE_DIFFER, REASON_UNKNOWN);
}

static void test_a_slower_machine_is_a_reason(void)
{
	struct made m;

	make(&m, 20, 25);
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.rest)->cpu_ns = 125 * MS;
	expect(&m, RECONCILE_DIFFER, REASON_WHOLE);
	/* The whole is slower because of one function: this is no reason for itself. */
	make(&m, 200, 250);
	expect(&m, RECONCILE_DIFFER, REASON_UNKNOWN);
}

static void test_runs_that_overlap_are_a_reason(void)
{
	struct made m;

	make(&m, 20, 25);
	sum(&m, RECONCILE_SAMPLED, 0, m.f)->cpu_ns = 23.9 * MS;
	EACH_RUN
	sum(&m, RECONCILE_COUNTED, run, m.f)->cpu_ns = (23.8 + 0.3 * run) * MS;
	expect(&m, RECONCILE_DIFFER, REASON_SCATTER);
}

static void test_a_path_is_folded_to_its_innermost_counted_function(void)
{
	struct reconcile_runs t;
	struct reconcile_fold f = reconcile_fold_none();
	uint32_t counted, library, hook;

	reconcile_runs_init(&t);
	counted = reconcile_function(&t, "work", "/bin/prog", false);
	reconcile_set_counted(&t, counted);
	library = reconcile_function(&t, "memcpy", "/lib/libc.so.6", false);
	hook = reconcile_function(&t, "__cyg_profile_func_enter", "/lib/libc.so.6", false);
	reconcile_fold_step(&t, &f, library, "start");
	CHECK_EQ(f.function, 0);
	reconcile_fold_step(&t, &f, counted, "work");
	CHECK_EQ(f.function, counted);
	CHECK(!f.folded);
	reconcile_fold_step(&t, &f, library, "memcpy");
	CHECK_EQ(f.function, counted);
	CHECK(f.folded);
	reconcile_fold_step(&t, &f, hook, "__cyg_profile_func_enter");
	CHECK(f.hook);
	reconcile_runs_done(&t);
}

static void test_functions_are_matched_without_suffixes_and_files(void)
{
	struct reconcile_runs t;
	uint32_t counted, tagged;

	reconcile_runs_init(&t);
	counted = reconcile_function(&t, "work", "/bin/prog", false);
	reconcile_set_counted(&t, counted);
	tagged = reconcile_function(&t, "tagged", "", false);
	reconcile_set_counted(&t, tagged);
	CHECK_EQ(reconcile_function(&t, "work.constprop.0", "/usr/bin/prog", false), counted);
	CHECK_EQ(reconcile_function(&t, "work.cold", "/bin/prog", false), counted);
	CHECK(reconcile_function(&t, "work.particle", "/bin/prog", false) != counted);
	CHECK_EQ(reconcile_counted(&t, reconcile_function(&t, "tagged", "/bin/prog", false)),
	         tagged);
	CHECK_EQ(reconcile_counted(&t, reconcile_function(&t, "work", "", false)), counted);
	CHECK_EQ(reconcile_counted(&t, reconcile_function(&t, "work", "/bin/other", false)), 0);
	reconcile_runs_done(&t);
}

static void test_names_of_a_native_program_are_those_of_the_counted_one(void)
{
	struct reconcile_runs t;
	uint32_t counted, row;

	reconcile_runs_init(&t);
	t.native = true;
	t.native_name = "prog-native-and-long";
	t.counted_name = "prog";
	counted = reconcile_function(&t, "work", "/bin/prog", false);
	row = reconcile_row(&t, "prog", counted);
	CHECK_EQ(reconcile_function(&t, "work", "/bin/prog-native-and-long", false), counted);
	CHECK_EQ(reconcile_row(&t, "prog-native-and", counted), row);
	reconcile_runs_done(&t);
}

int main(void)
{
	RUN(test_equal_times_agree);
	RUN(test_a_difference_below_two_percent_is_none);
	RUN(test_a_function_without_samples_does_not_agree);
	RUN(test_the_length_of_runs_that_decide);
	RUN(test_a_difference_without_a_cause_is_unknown);
	RUN(test_one_of_many_functions_may_differ_by_chance);
	RUN(test_wide_intervals_of_samples_do_not_tell);
	RUN(test_an_uncertain_cost_of_short_calls_does_not_tell);
	RUN(test_scatter_between_runs_does_not_tell);
	RUN(test_waiting_that_is_not_separated_is_a_reason);
	RUN(test_different_numbers_of_calls_are_other_work);
	RUN(test_samples_without_call_paths_are_a_reason);
	RUN(test_cut_stacks_are_a_reason_for_missing_time);
	RUN(test_a_function_that_no_sample_has_is_inlined);
	RUN(test_a_caller_contains_its_inlined_callee);
	RUN(test_a_tail_call_is_in_its_caller);
	RUN(test_time_outside_is_start_and_exit);
	RUN(test_taking_samples_takes_time);
	RUN(test_hooks_that_do_nothing_take_time);
	RUN(test_hooks_change_the_code_of_a_native_program);
	RUN(test_switches_are_held_off_from_samples);
	RUN(test_the_cost_of_counting_is_a_reason);
	RUN(test_late_samples_are_a_reason);
	RUN(test_a_program_in_step_is_a_reason);
	RUN(test_a_slower_machine_is_a_reason);
	RUN(test_runs_that_overlap_are_a_reason);
	RUN(test_a_path_is_folded_to_its_innermost_counted_function);
	RUN(test_functions_are_matched_without_suffixes_and_files);
	RUN(test_names_of_a_native_program_are_those_of_the_counted_one);
	return check_end();
}
