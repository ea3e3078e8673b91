/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "session/sinks/flight_account.h"

#define MS UINT64_C(1000000)
#define START (1000000 * MS)

static bool has_note(const struct recording *r, const char *words)
{
	vec_each (note, &r->account.notes)
		if (strstr(*note, words))
			return true;
	return false;
}

/*
 * The state at the start of the range, and its changes; values of the whole recording are left out.
 */
static void rates_and_counts_are_those_of_the_range(void)
{
	struct ring_stretch stretch = {.start_ns = START + 10000 * MS};
	struct session_status now = {.now_ns = START + 20000 * MS};
	struct recording whole, part;
	struct ring_marks marks = {0};

	recording_init(&whole);
	whole.account = (struct account){.start_ns = START,
	                                 .end_ns = START + 20000 * MS,
	                                 .counted_oncpu_ns = 12345,
	                                 .unwind = {.samples = 777, .frames = 9}};
	vec_push(&whole.account.rates,
	         (struct account_rate){.time_ns = START + 1000 * MS, .period_ns = 2 * MS});
	vec_push(&whole.account.rates,
	         (struct account_rate){.time_ns = START + 3000 * MS, .period_ns = 4 * MS});
	vec_push(&whole.account.rates,
	         (struct account_rate){.time_ns = START + 18000 * MS, .period_ns = MS});
	flight_account_stretch(&part, &whole, &marks, &stretch, &now);
	CHECK_EQ(part.account.rates.count, 2);
	CHECK_EQ(part.account.rates.items[0].time_ns, stretch.start_ns);
	CHECK_EQ(part.account.rates.items[0].period_ns, 4 * MS);
	CHECK_EQ(part.account.rates.items[1].time_ns, START + 18000 * MS);
	CHECK_EQ(part.account.counted_oncpu_ns, 0);
	CHECK_EQ(part.account.unwind.samples, 0);
	CHECK(has_note(&part, "777 samples"));
	flight_account_done(&part);
	/* Before the first change there is no rate to report. */
	stretch.start_ns = START + 500 * MS;
	flight_account_stretch(&part, &whole, &marks, &stretch, &now);
	CHECK_EQ(part.account.rates.count, 3);
	CHECK_EQ(part.account.rates.items[0].time_ns, START + 1000 * MS);
	flight_account_done(&part);
	CHECK_EQ(whole.account.rates.count, 3);
	CHECK_EQ(whole.account.unwind.samples, 777);
	recording_done(&whole);
}

int main(void)
{
	RUN(rates_and_counts_are_those_of_the_range);
	return check_end();
}
