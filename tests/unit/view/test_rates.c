/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings whose rate changes to any rate: the ledger closes (recorded and missing ticks are the
 * due ticks), the account has the reasons, and a view converts the changes to intervals.
 */
#include "check.h"
#include "format/perf/perf_data_feature.h"
#include "profile/ledger/ledger_cpu.h"
#include "view/account/rates.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define START (1000 * SECOND)

/* A timer like the kernel's: each change restarts it, and its first tick comes one period later. */
struct timer {
	struct ledger_cpu_builder b;
	uint64_t now_ns, busy_ns, idle_ns, missing_ns, seen_ns, tail_ns;
	bool idle;
};

static void timer_start(struct timer *t, uint64_t asked_ns, uint64_t end_ns)
{
	*t = (struct timer){.now_ns = START};
	ledger_cpu_init(&t->b, asked_ns, false, START, end_ns);
	ledger_cpu_switch(&t->b, START + 1, 7, false, 0);
}

/* For `length_ns` at a period; every `skip`th tick is missing; busy and idle time alternate. */
static void timer_run(struct timer *t, uint64_t period_ns, uint64_t length_ns, unsigned skip)
{
	uint64_t end = t->now_ns + length_ns, last = t->now_ns, n = 0;

	for (uint64_t due = t->now_ns + period_ns; due <= end; due += period_ns) {
		if (++n % 5 == 0) {
			/*
			 * In the middle between two ticks, so that each state has a whole number of
			 * ticks.
			 */
			ledger_cpu_switch(&t->b, due - period_ns / 2, t->idle ? 0 : 7, true,
			                  t->idle ? 7 : 0);
			t->idle = !t->idle;
		}
		last = due;
		/*
		 * The last interval before a restart: the kernel may have served its tick or not.
		 */
		if (skip && n % skip == 0 && end - due > 60000) {
			t->missing_ns += period_ns;
			continue;
		}
		t->seen_ns += period_ns;
		ledger_cpu_sample(&t->b, due + 3000 + (n * 7919) % 2000, t->idle, period_ns);
	}
	t->tail_ns += end - last;
	t->now_ns = end;
}

static void check_closed(struct timer *t, uint64_t asked_ns, unsigned changes)
{
	const struct ledger_cpu *s = &t->b.sums;
	uint64_t seen = s->ticks_seen_busy + s->ticks_seen_idle;
	uint64_t due = s->ticks_due_busy + s->ticks_due_idle;

	ledger_cpu_finish(&t->b, t->now_ns);
	seen = s->ticks_seen_busy + s->ticks_seen_idle;
	due = s->ticks_due_busy + s->ticks_due_idle;
	CHECK_EQ(s->weight_busy + s->weight_idle, t->seen_ns);
	/* Each state may have a part of a tick that is not counted yet. */
	CHECK(llabs((long long)(seen * asked_ns) - (long long)t->seen_ns) <= 2 * asked_ns);
	CHECK(s->ticks_due_busy >= s->ticks_seen_busy);
	CHECK(s->ticks_due_idle >= s->ticks_seen_idle);
	CHECK(llabs((long long)((due - seen) * asked_ns) - (long long)t->missing_ns) <=
	      2 * asked_ns);
	/* All of the time, except that between the last tick and the restart of its timer. */
	CHECK(llabs((long long)(due * asked_ns + t->tail_ns) - (long long)(t->now_ns - START)) <=
	      (changes + 4) * asked_ns);
	ledger_cpu_done(&t->b);
}

static void rates_that_are_no_multiples(void)
{
	static const uint64_t periods[] = {800640, 1003009, 821693, 5555555, 52631579, 1777777};
	struct timer t;

	timer_start(&t, 20000, 0);
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		timer_run(&t, periods[i], 3 * SECOND, 0);
	CHECK_EQ(t.missing_ns, 0);
	check_closed(&t, 20000, 6);
}

static void ticks_that_do_not_come_at_any_rate(void)
{
	static const uint64_t periods[] = {1003009, 8849558, 14084507, 18867925, 2150537};
	struct timer t;

	timer_start(&t, 1003009, 0);
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		timer_run(&t, periods[i], 4 * SECOND, 11);
	CHECK(t.missing_ns > SECOND);
	check_closed(&t, 1003009, 5);
}

/* It begins at less than the requested rate, and its first ticks are delayed: they are missing. */
static void slower_from_the_start(void)
{
	struct ledger_cpu_builder b;

	ledger_cpu_init(&b, MS, false, START, 0);
	ledger_cpu_switch(&b, START + 1, 7, false, 0);
	for (uint64_t t = 40; t < 1000; t += 8)
		ledger_cpu_sample(&b, START + t * MS, false, 8 * MS);
	ledger_cpu_finish(&b, START + 1000 * MS);
	CHECK_EQ(b.sums.ticks_due_busy - b.sums.ticks_seen_busy, 4 * 8);
	CHECK_EQ(b.sums.ticks_seen_busy, 120 * 8);
	ledger_cpu_done(&b);
}

static void any_rates(void)
{
	srandom(3);
	for (int i = 0; i < 200; i++) {
		uint64_t asked = 20000 + (uint64_t)random() % 2000000, parts = 3 + random() % 5;
		struct timer t;

		timer_start(&t, asked, 0);
		for (uint64_t part = 0; part < parts; part++)
			timer_run(&t, asked + (uint64_t)random() % (20 * asked), 2 * SECOND,
			          random() % 2 ? 0 : 7 + random() % 9);
		check_closed(&t, asked, (unsigned)parts);
	}
}

/* Weights in a damaged file are not used as rates. */
static void weights_that_no_timer_has(void)
{
	struct ledger_cpu_builder b;
	uint64_t weights[] = {0, 1, 9999, UINT64_MAX, UINT64_MAX / 2, 61 * SECOND};

	ledger_cpu_init(&b, MS, false, START, 0);
	for (uint64_t t = 1; t < 100; t++)
		ledger_cpu_sample(&b, START + t * MS, false, weights[t % 6]);
	ledger_cpu_finish(&b, START + 100 * MS);
	CHECK_EQ(b.sums.ticks_seen_busy, 99);
	CHECK_EQ(b.sums.ticks_due_busy, 99);
	ledger_cpu_done(&b);
}

static void sampled(struct recording *r)
{
	recording_init(r);
	vec_push(&r->attrs, (struct recording_attr){
	                            .role = ATTR_CLOCK, .frequency_hz = 1000, .period_ns = MS});
	r->account.present = true;
	r->account.start_ns = START;
	r->account.end_ns = START + 100 * SECOND;
}

static void change(struct recording *r, uint64_t time_ns, uint64_t period_ns, bool budget)
{
	vec_push(&r->account.rates, (struct account_rate){.time_ns = time_ns,
	                                                  .period_ns = period_ns,
	                                                  .budget = budget});
}

static void stretches_of_time(void)
{
	struct recording r;
	rate_list rows = {0};
	uint64_t at = 0;

	sampled(&r);
	rates_of(&r, &rows);
	CHECK_EQ(rows.count, 0);
	change(&r, START - 5, 4 * MS, true);
	change(&r, START + 20 * SECOND, 8 * MS, false);
	change(&r, START + 50 * SECOND, MS, false);
	change(&r, START + 200 * SECOND, 2 * MS, true); /* after the end */
	rates_of(&r, &rows);
	CHECK_EQ(rows.count, 3);
	vec_each (row, &rows) {
		CHECK_EQ(row->from_ns, at);
		at += row->length_ns;
	}
	CHECK_EQ(at, 100 * SECOND);
	CHECK_EQ(rows.items[0].reason, RATE_BUDGET);
	CHECK_EQ((uint64_t)rows.items[0].hz, 250);
	CHECK_EQ(rows.items[1].reason, RATE_BEHIND);
	CHECK_EQ(rows.items[2].reason, RATE_ASKED);
	CHECK(rows.items[2].share > 0.499 && rows.items[2].share < 0.501);
	vec_done(&rows);
	recording_done(&r);
}

/* If buffers were never full, they are not given as the reason; a recorded reason is used. */
static void reasons_that_were_not_recorded(void)
{
	struct recording r;
	rate_list rows = {0};
	struct account_cpu *cpu;

	sampled(&r);
	cpu = vec_add(&r.account.cpus);
	cpu->ring_bytes = 1000;
	change(&r, START + SECOND, 4 * MS, false);
	change(&r, START + 2 * SECOND, 8 * MS, false);
	r.account.rates.items[1].unknown = true;
	rates_of(&r, &rows);
	CHECK_EQ(rows.items[1].reason, RATE_BEHIND);
	CHECK_EQ(rows.items[2].reason, RATE_BUDGET);
	vec_done(&rows);
	recording_done(&r);
}

static void asked_until_the_first_change(void)
{
	struct recording r;
	rate_list rows = {0};

	sampled(&r);
	change(&r, START + 10 * SECOND, 2 * MS, false);
	change(&r, START + 5 * SECOND, 4 * MS, false); /* times of a damaged file */
	rates_of(&r, &rows);
	CHECK_EQ(rows.count, 2);
	CHECK_EQ(rows.items[0].reason, RATE_ASKED);
	CHECK_EQ(rows.items[0].length_ns, 10 * SECOND);
	CHECK_EQ(rows.items[1].period_ns, 4 * MS);
	vec_done(&rows);
	recording_done(&r);
}

static void buffers_that_are_short(void)
{
	struct recording r;
	struct account_cpu *cpu;

	sampled(&r);
	CHECK(!buffers_were_short(&r));
	cpu = vec_add(&r.account.cpus);
	cpu->ring_bytes = 1000;
	cpu->ring_used_max = 500;
	CHECK(!buffers_were_short(&r));
	CHECK_EQ(buffer_average(cpu), 0);
	cpu->ring_used_sum = 700;
	cpu->ring_reads = 7;
	CHECK_EQ(buffer_average(cpu), 100);
	cpu->lost_records = 1;
	CHECK(buffers_were_short(&r));
	cpu->lost_records = 0;
	cpu->ring_used_max = 501;
	CHECK(buffers_were_short(&r));
	recording_done(&r);
}

static void fill_account(struct account *a)
{
	struct account_cpu *cpu = vec_add(&a->cpus);

	cpu->cpu = 3;
	cpu->ring_used_sum = 123456789012;
	cpu->ring_reads = 77;
	a->budget = (struct account_budget){.share_ppm = 20000,
	                                    .cost_ns = 16001,
	                                    .cost_low_ns = 15001,
	                                    .cost_high_ns = 17001,
	                                    .cost_samples = 199,
	                                    .spent_ppm = 18001,
	                                    .most_ppm = 21001,
	                                    .looked_ns = 99 * SECOND,
	                                    .over_ns = SECOND,
	                                    .record_ns = 601};
	a->calibration = (struct account_calibration){.state = CALIBRATION_DONE,
	                                              .pairs = 345,
	                                              .slowdown_ppm = 1401,
	                                              .low_ppm = -52,
	                                              .high_ppm = 2860};
}

/* Each change by itself, and merged ones with the counts that they replace. */
static void how_often_the_rate_was_lowered(void)
{
	struct recording r;
	uint64_t slowest_ns;

	sampled(&r);
	CHECK_EQ(rates_slowed(&r, &slowest_ns), 0);
	change(&r, START + SECOND, 4 * MS, false);
	change(&r, START + 2 * SECOND, 2 * MS, false);
	change(&r, START + 3 * SECOND, 8 * MS, true);
	CHECK_EQ(rates_slowed(&r, &slowest_ns), 1);
	CHECK_EQ(slowest_ns, 4 * MS);
	vec_each (rate, &r.account.rates)
		rate->changes = 1;
	r.account.rates.items[0].changes = 12;
	r.account.rates.items[0].slowed = 7;
	r.account.rates.items[0].slowest_ns = 16 * MS;
	CHECK_EQ(rates_slowed(&r, &slowest_ns), 7);
	CHECK_EQ(slowest_ns, 16 * MS);
	recording_done(&r);
}

/* New information is in keys that older readers skip. */
static void the_account_keeps_it(void)
{
	struct recording r, back;
	struct buf text = {0};
	uint16_t witness;

	sampled(&r);
	recording_init(&back);
	fill_account(&r.account);
	change(&r, START + SECOND, 3 * MS, true);
	change(&r, START + 2 * SECOND, 6 * MS, false);
	change(&r, START + 3 * SECOND, 4 * MS, false);
	r.account.rates.items[2].changes = 9;
	r.account.rates.items[2].slowed = 5;
	r.account.rates.items[2].slowest_ns = 8 * MS;
	perf_data_account_encode(&text, &r);
	CHECK(strstr(buf_text(&text), "rate time_ns=1001000000000 period_ns=3000000 budget=1\n"));
	CHECK(strstr(buf_text(&text), "rate time_ns=1002000000000 period_ns=6000000\n"));
	CHECK(perf_data_account_decode(text.data, text.size, &back.account, &witness));
	CHECK_EQ(back.account.rates.count, 3);
	CHECK_EQ(back.account.rates.items[2].changes, 9);
	CHECK_EQ(back.account.rates.items[2].slowed, 5);
	CHECK_EQ(back.account.rates.items[2].slowest_ns, 8 * MS);
	CHECK_EQ(back.account.rates.items[1].changes, 0);
	CHECK_EQ(back.account.rates.items[0].budget, 1);
	CHECK_EQ(back.account.rates.items[1].budget, 0);
	CHECK(!memcmp(&back.account.budget, &r.account.budget, sizeof(r.account.budget)));
	CHECK(!memcmp(&back.account.calibration, &r.account.calibration,
	              sizeof(r.account.calibration)));
	CHECK_EQ(back.account.cpus.items[0].ring_used_sum, 123456789012);
	CHECK_EQ(back.account.cpus.items[0].ring_reads, 77);
	buf_done(&text);
	recording_done(&r);
	recording_done(&back);
}

static bool is_good(const char *line)
{
	struct recording r;
	uint16_t witness;
	bool good;

	recording_init(&r);
	good = perf_data_account_decode(line, strlen(line), &r.account, &witness);
	recording_done(&r);
	return good;
}

static void numbers_out_of_range_are_refused(void)
{
	CHECK(is_good("exit_status -1\n"));
	CHECK(!is_good("exit_status -2147483648\n"));
	CHECK(is_good("calibration low_ppm=-12 high_ppm=9223372036854775807\n"));
	CHECK(!is_good("calibration low_ppm=-9223372036854775808\n"));
	CHECK(!is_good("calibration pairs=-1\n"));
	CHECK(!is_good("calibration pairs\n"));
}

int main(void)
{
	RUN(rates_that_are_no_multiples);
	RUN(numbers_out_of_range_are_refused);
	RUN(ticks_that_do_not_come_at_any_rate);
	RUN(slower_from_the_start);
	RUN(any_rates);
	RUN(weights_that_no_timer_has);
	RUN(stretches_of_time);
	RUN(how_often_the_rate_was_lowered);
	RUN(reasons_that_were_not_recorded);
	RUN(asked_until_the_first_change);
	RUN(buffers_that_are_short);
	RUN(the_account_keeps_it);
	return check_end();
}
