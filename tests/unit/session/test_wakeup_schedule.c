/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wakeup_schedule: with stack walking, the first reads come early, and each one later. */
#include "base/clock.h"
#include "check.h"
#include "session/wakeup_schedule.h"

static void soon_at_first_when_stacks_are_walked(void)
{
	struct wakeup_schedule p = {0};
	int patience = wakeup_schedule_begin(&p, true, 0, 0), most = 0, drains = 0;

	CHECK(wakeup_schedule_flush_due(
	        &p, clock_ns(CLOCK_MONOTONIC))); /* the next one is much later */
	wakeup_schedule_drained(&p);
	CHECK(wakeup_schedule_sleep_ms(&p, patience, false) <= 10);
	while (p.soon_ms && drains < 20) {
		CHECK(p.soon_ms > most);
		CHECK(wakeup_schedule_sleep_ms(&p, patience, false) <= p.soon_ms);
		most = p.soon_ms;
		wakeup_schedule_drained(&p);
		drains++;
	}
	CHECK(drains > 2 && drains < 10);
	CHECK(most >= patience / 2);
	CHECK(wakeup_schedule_sleep_ms(&p, patience, false) <= patience);
}

/* The first read is at most a ms away, each later one waits twice as long. */
static void a_started_program_leads_to_early_reads(void)
{
	struct wakeup_schedule p = {0};
	int patience = wakeup_schedule_begin(&p, true, 0, 0), reads = 0;

	while (p.soon_ms)
		wakeup_schedule_drained(&p);
	wakeup_schedule_flush_due(&p, clock_ns(CLOCK_MONOTONIC));
	wakeup_schedule_started(&p);
	CHECK(wakeup_schedule_sleep_ms(&p, patience, false) <= 1);
	for (int ms = 1; p.soon_ms; ms *= 2, reads++) {
		CHECK_EQ(p.soon_ms, ms);
		wakeup_schedule_drained(&p);
	}
	CHECK_EQ(reads, 8);
	/* Deep stacks do not make the next read later. */
	wakeup_schedule_started(&p);
	wakeup_schedule_soon(&p);
	CHECK_EQ(p.soon_ms, 1);
}

/* The first flush is due at once, each later one after the interval. */
static void flushes_at_an_interval(void)
{
	/* Longer than any machine has been running. */
	struct wakeup_schedule p = {.flush_ns = UINT64_C(1000000000000000000)};
	uint64_t start = clock_ns(CLOCK_MONOTONIC), due;

	CHECK(wakeup_schedule_flush_due(&p, start));
	CHECK(p.flush_due_ns >= start + p.flush_ns);
	CHECK(!wakeup_schedule_flush_due(&p, start));
	/* One that is a little late does not move the others. */
	p.flush_due_ns = due = start - 1;
	CHECK(wakeup_schedule_flush_due(&p, start));
	CHECK_EQ(p.flush_due_ns, due + p.flush_ns);
	/* Flushes that were missed are not made up for. */
	p.flush_ns = 1;
	p.flush_due_ns = start - 1000;
	CHECK(wakeup_schedule_flush_due(&p, start));
	CHECK(p.flush_due_ns > start);
}

static void rings_alone_wait(void)
{
	struct wakeup_schedule p = {0};
	int patience = wakeup_schedule_begin(&p, false, 0, 0);

	wakeup_schedule_drained(&p);
	CHECK_EQ(p.soon_ms, 0);
	CHECK(patience > 1000);
	CHECK_EQ(wakeup_schedule_sleep_ms(&p, patience, false),
	         0); /* the first flush is due at once */
	CHECK(wakeup_schedule_flush_due(&p, clock_ns(CLOCK_MONOTONIC)));
	CHECK(!wakeup_schedule_flush_due(&p, clock_ns(CLOCK_MONOTONIC)));
}

/* The first gap begins with the recording, and a shorter one does not replace it. */
static void the_longest_gap_is_kept(void)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), gap_ns;
	struct wakeup_schedule p = {0};

	wakeup_schedule_begin(&p, false, 0, now_ns / 2);
	CHECK_EQ(p.gap_max_ns, 0);
	wakeup_schedule_drained(&p);
	gap_ns = p.gap_max_ns;
	CHECK(gap_ns >= now_ns - now_ns / 2);
	wakeup_schedule_drained(&p);
	CHECK_EQ(p.gap_max_ns, gap_ns);
}

int main(void)
{
	RUN(the_longest_gap_is_kept);
	RUN(soon_at_first_when_stacks_are_walked);
	RUN(a_started_program_leads_to_early_reads);
	RUN(flushes_at_an_interval);
	RUN(rings_alone_wait);
	return check_end();
}
