/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of all time, on a profile whose figures are known: view_fixture.h. */
#include "check.h"
#include "report_print.h"
#include "view_fixture.h"

#include "view/samples/report.h"

static void test_account_closes(void)
{
	struct fixture f;
	struct report *r;
	const struct account_terms *t;

	fixture_init(&f, false);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	t = &r->account->total;
	CHECK_EQ(r->account->cpus, 2);
	CHECK_EQ(r->account->wall_ns, 55 * MS);
	CHECK_EQ(t->user_ns, 65 * MS);
	CHECK_EQ(account_kernel_ns(t), 15 * MS);
	CHECK_EQ(t->syscalls_ns, 10 * MS);
	CHECK_EQ(t->faults_ns, 5 * MS);
	CHECK_EQ(t->hardirq_ns, 1 * MS);
	CHECK_EQ(t->softirq_ns, 4 * MS);
	CHECK_EQ(t->idle_ns, 18 * MS);
	CHECK_EQ(t->idle_irq_ns, 1 * MS);
	CHECK_EQ(t->steal_ns, 2 * MS);
	CHECK_EQ(t->unobserved_ns, 3 * MS);
	CHECK_EQ(t->residual_ns, 2 * MS);
	CHECK_EQ(r->account->lines.items[0].terms.residual_ns, 0);
	CHECK_EQ(r->account->lines.items[1].terms.residual_ns, 2 * MS);
	CHECK_EQ(r->account->ticks.missing_busy, 5);
	CHECK_EQ(r->account->ticks.missing_idle, 3);
	CHECK_EQ(r->account->ticks.seen.irq, 5);
	/* Above 1 %, a note explains it. */
	CHECK_EQ(r->account->remarks.count, 1);
	CHECK(r->account->remarks.count && strstr(r->account->remarks.items[0], "1.8 %"));
	CHECK_EQ(r->observer.samples, 5); /* without the interrupts that hit it */
	report_free(r);
	fixture_done(&f);
}

static void test_account_steal_only_where_ticks_miss(void)
{
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	f.profile->ledger.cpus.items[0].steal_ns = 20 * MS;
	f.profile->ledger.cpus.items[1].steal_ns = 7 * MS;
	/*
	 * Steal time was measured only in a part of the time, as in windows of a store: its line is
	 * printed.
	 */
	f.profile->ledger.cpus.items[0].has_steal = f.profile->ledger.cpus.items[1].has_steal =
	        false;
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK(r->account->has_steal);
	CHECK_EQ(r->account->total.steal_ns, 5 * MS);
	CHECK_EQ(r->account->total.steal_measured_ns, 27 * MS);
	CHECK_EQ(r->account->total.unobserved_ns, 0);
	CHECK_EQ(r->account->total.residual_ns, 2 * MS);
	report_free(r);
	fixture_done(&f);
}

static void test_account_without_switches(void)
{
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	vec_each (c, &f.profile->ledger.cpus) {
		c->has_switches = false;
		c->busy_ns = c->idle_ns = 0;
	}
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK(!r->account->has_unobserved);
	CHECK(!r->account->has_idle);
	CHECK_EQ(r->account->total.idle_ns, 15 * MS);
	CHECK_EQ(r->account->total.unobserved_ns, 0);
	/* 110 - 65 - 15 - 5 - 15 */
	CHECK_EQ(r->account->total.residual_ns, 10 * MS);
	CHECK(r->account->remarks.count >= 2);
	report_free(r);
	fixture_done(&f);
}

/* In a damaged file: the account has no line for an unknown CPU. */
static void test_account_of_samples_without_cpu(void)
{
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	fixture_row(&f, fixture_path(&f, "main", NULL), f.sh, PROFILE_CPU_UNKNOWN, PROFILE_USER, 7);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK_EQ(r->account->cpus, 2);
	CHECK_EQ(r->account->total.user_ns, 65 * MS);
	CHECK_EQ(r->account->ticks.seen.user, 72);
	CHECK(r->account->remarks.count &&
	      strstr(r->account->remarks.items[0], "7 samples carry no CPU"));
	report_free(r);
	fixture_done(&f);
}

static void test_account_of_a_process(void)
{
	struct fixture f;
	struct report *r;
	struct ledger_process one = {.threads = 3,
	                             .wall_ns = 200 * MS,
	                             .oncpu_ns = 102 * MS,
	                             .runnable_ns = 8 * MS,
	                             .blocked_ns = 89 * MS,
	                             .unknown_ns = 1 * MS};

	fixture_init(&f, false);
	f.profile->ledger.machine_wide = false;
	f.profile->ledger.cpus.count = 0;
	f.profile->ledger.counted_oncpu_ns = 101 * MS;
	vec_push(&f.profile->ledger.processes, one);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK_EQ(r->account->wall_ns, 200 * MS);
	CHECK_EQ(r->account->threads, 3);
	CHECK_EQ(r->account->total.idle_ns, 98 * MS);
	CHECK_EQ(r->account->oncpu_ns, 101 * MS);
	CHECK_EQ(r->account->switched_oncpu_ns, 102 * MS);
	/* 101 by the counter, 65 + 15 + 5 seen */
	CHECK_EQ(r->account->total.unobserved_ns, 16 * MS);
	CHECK_EQ(r->account->total.residual_ns, 1 * MS);
	CHECK_EQ(r->account->counted_oncpu_ns, 101 * MS);
	report_free(r);
	fixture_done(&f);
}

/* The remark about the account of a process with this time on a CPU and so many switches. */
static void check_remark(uint64_t switched_ms, uint64_t switches, uint64_t lost, const char *cause)
{
	struct fixture f;
	struct report *r;
	struct ledger_process one = {.threads = 3,
	                             .wall_ns = (100 + switched_ms) * MS,
	                             .oncpu_ns = switched_ms * MS,
	                             .blocked_ns = 100 * MS,
	                             .switches = switches};

	fixture_init(&f, false);
	f.profile->ledger.machine_wide = false;
	f.profile->ledger.cpus.count = 0;
	f.profile->ledger.counted_oncpu_ns = 100 * MS;
	f.profile->recordings.items[0]->lost_records = lost;
	vec_push(&f.profile->ledger.processes, one);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK_EQ(r->account->total.residual_ns, (int64_t)switched_ms * MS - 100 * MS);
	CHECK(r->account->remarks.count && strstr(*vec_last(&r->account->remarks), cause));
	CHECK(!strstr(*vec_last(&r->account->remarks), "timer"));
	report_free(r);
	fixture_done(&f);
}

static void test_cause_of_the_residual_of_a_process(void)
{
	check_remark(250, 10, 0, "may have begun while sampling was set up");
	check_remark(250, 10, 7, "7 records were lost");
	check_remark(60, 10, 0, "for less time than the kernel counted");
	check_remark(90, 5000, 0,
	             "is the work of 5000 switches: for each, the kernel's counter and");
}

/* Each thread has its own timer: short threads end before it. */
static void test_threads_too_short_for_samples(void)
{
	for (uint32_t threads = 1; threads <= 1000; threads += 999) {
		struct fixture f;
		struct report *r;
		bool told = false;
		struct ledger_process one = {.threads = threads,
		                             .wall_ns = 400 * MS,
		                             .oncpu_ns = 200 * MS,
		                             .blocked_ns = 200 * MS};

		fixture_init(&f, false);
		f.profile->ledger.machine_wide = false;
		f.profile->ledger.cpus.count = 0;
		f.profile->ledger.counted_oncpu_ns = 200 * MS;
		vec_push(&f.profile->ledger.processes, one);
		r = fixture_report(&f, &(struct report_request){.limit = -1});
		CHECK_EQ(r->account->total.unobserved_ns, 115 * MS);
		vec_each (text, &r->account->remarks)
			told |= strstr(*text, "57.5 % of the time on a CPU has no samples") != NULL;
		CHECK_EQ(told, threads == 1000);
		report_free(r);
		fixture_done(&f);
	}
}

static void test_account_without_the_kernel(void)
{
	struct recording_attr attr = {
	        .name = xstrdup("cpu-clock"), .role = ATTR_CLOCK, .exclude_kernel = true};
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	vec_push(&f.profile->recordings.items[0]->attrs, attr);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK(!r->account->has_kernel);
	CHECK(strstr(r->account->remarks.items[0], "kernel was not sampled"));
	report_free(r);
	fixture_done(&f);
}

/*
 * The account of a part is computed from its ledger; figures that exist only for the whole are
 * omitted.
 */
static void test_account_of_a_part(void)
{
	bool told = false;
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	f.profile->recordings.items[0]->from_ns = 1;
	vec_each (cpu, &f.profile->ledger.cpus) {
		cpu->has_steal = false;
		cpu->steal_ns = 0;
	}
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK(r->account->present);
	CHECK(r->account->total.wall_ns != 0);
	vec_each (text, &r->account->remarks)
		told |= strstr(*text, "Steal was not recorded for a part of the time") != NULL;
	CHECK(told);
	report_free(r);
	fixture_done(&f);
}

static void test_account_of_two_clocks(void)
{
	struct recording_attr clock = {.name = xstrdup("cpu-clock"), .role = ATTR_CLOCK};
	struct recording_attr cycles = {.name = xstrdup("cycles"), .role = ATTR_CLOCK};
	struct recording *second = xcalloc(1, sizeof(*second));
	struct fixture f;
	struct report *r;

	fixture_init(&f, false);
	recording_init(second);
	vec_push(&second->attrs, cycles);
	vec_push(&f.profile->recordings.items[0]->attrs, clock);
	vec_push(&f.profile->recordings, second);
	r = fixture_report(&f, &(struct report_request){.limit = -1});
	CHECK(!r->account->present);
	CHECK(strstr(r->account->remarks.items[0], "different events"));
	report_free(r);
	fixture_done(&f);
}

/* One file is of the whole machine, the other of a process: they have no common account. */
static void test_account_of_two_scopes(void)
{
	for (uint32_t of = 0; of < 2; of++) {
		struct recording *second = xcalloc(1, sizeof(*second));
		struct fixture f;
		struct report *r;

		fixture_init(&f, false);
		recording_init(second);
		vec_push(&f.profile->recordings, second);
		vec_each (cpu, &f.profile->ledger.cpus)
			cpu->recording = of;
		r = fixture_report(&f, &(struct report_request){.limit = -1});
		CHECK_EQ(r->account->remarks.count, 1);
		CHECK(strstr(r->account->remarks.items[0], "and some a process"));
		report_free(r);
		/* Each file has the account of one CPU: both are of the machine. */
		f.profile->ledger.cpus.items[0].recording = 1 - of;
		r = fixture_report(&f, &(struct report_request){.limit = -1});
		vec_each (text, &r->account->remarks)
			CHECK(!strstr(*text, "and some a process"));
		report_free(r);
		fixture_done(&f);
	}
}

int main(void)
{
	RUN(test_account_closes);
	RUN(test_account_steal_only_where_ticks_miss);
	RUN(test_account_without_switches);
	RUN(test_account_of_samples_without_cpu);
	RUN(test_account_of_a_process);
	RUN(test_cause_of_the_residual_of_a_process);
	RUN(test_threads_too_short_for_samples);
	RUN(test_account_without_the_kernel);
	RUN(test_account_of_a_part);
	RUN(test_account_of_two_clocks);
	RUN(test_account_of_two_scopes);
	return check_end();
}
