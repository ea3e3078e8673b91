/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sums over threads of counted calls, and flags of processes. */
#include "call_view_fixture.h"

#include <math.h>

static void books_are_sums_over_threads(void)
{
	struct call_fixture f;
	struct call_process *p;
	struct call_check b;

	fixture_init(&f);
	p = fixture_process(&f);
	b = call_check_of(p);
	CHECK_EQ(b.threads, 1);
	CHECK_EQ(b.cpu_residual_ns, 0);
	CHECK_EQ(b.wall_residual_ns, 20);
	fixture_thread(p, 100, NAN);
	b = call_check_of(p);
	CHECK_EQ(b.threads, 2);
	CHECK_EQ(b.clockless, 1);
	CHECK_EQ(b.net_ns, 1801);
	/* This account excludes the thread without a clock. */
	CHECK_EQ(b.cpu_net_ns, 1701);
	CHECK_EQ(b.cpu_ns, 2000);
	CHECK_EQ(b.wall_residual_ns, 40);
	CHECK(fabs(call_check_own_share(p) - 299.0 / 2100) < 1e-9);
	fixture_done(&f);
}

/*
 * One record may stand for many exited threads; a record of an older table has no number of
 * threads.
 */
static void a_record_of_several_threads_counts_them(void)
{
	struct call_fixture f;
	struct call_process *p;

	fixture_init(&f);
	p = fixture_process(&f);
	p->threads.items[0].threads = 5;
	CHECK_EQ(call_check_of(p).threads, 5);
	CHECK_EQ(call_check_thread(&p->threads.items[0]).threads, 5);
	fixture_thread(p, 100, NAN);
	vec_last(&p->threads)->threads = 0;
	CHECK_EQ(call_check_of(p).threads, 6);
	fixture_done(&f);
}

static void flags_are_words_and_sentences(void)
{
	struct call_fixture f;
	struct call_process *p;
	struct buf text = {0};

	fixture_init(&f);
	p = fixture_process(&f);
	p->flags = CALL_LOST | CALL_UNSWITCHED;
	p->lost_events = 17;
	CHECK(!call_flag_sentence(p, 0, &text));
	CHECK(call_flag_sentence(p, 4, &text));
	CHECK_STR(buf_text(&text), "17 events were lost");
	CHECK_STR(call_flag_word(2), "unswitched");
	CHECK(!call_flag_word(31));
	/* The switches of some threads were recorded, so the column of waiting is shown. */
	CHECK(!call_check_unseparated(p));
	p->paths.items[0].total_blocked_ns = 0;
	CHECK(call_check_unseparated(p));
	buf_done(&text);
	fixture_done(&f);
}

int main(void)
{
	RUN(books_are_sums_over_threads);
	RUN(flags_are_words_and_sentences);
	RUN(a_record_of_several_threads_counts_them);
	return check_end();
}
