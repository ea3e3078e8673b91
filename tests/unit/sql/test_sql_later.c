/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql: tables that are loaded when they are needed, query plans, and messages about unknown names.
 */
#include "sql_profile_fixture.h"

#include <errno.h>
#include <sqlite3.h>

/* The position of an error in the first line, for errors for which SQLite reports it. */
#if SQLITE_VERSION_NUMBER >= 3038000
#define PLACE(column) " (line 1, column " #column ")"
#else
#define PLACE(column) ""
#endif

struct later {
	struct sql *sql;
	struct fixture *f;
	int asked, failures, done;
};

static int load(void *ctx, const volatile sig_atomic_t *stop, struct error *err)
{
	struct later *l = ctx;

	l->asked++;
	if (stop && *stop)
		return error_set(err, EINTR, "stopped");
	if (l->failures-- > 0)
		return error_set(err, EIO, "the disk is gone");
	return sql_add_profile(l->sql, l->f->profile, l->f->symbols, err);
}

static void let_go(void *ctx)
{
	((struct later *)ctx)->done++;
}

static void tables_that_a_query_does_not_need_are_not_loaded(void)
{
	volatile sig_atomic_t flag = 0;
	struct buf text = {0};
	struct fixture f;
	struct later l = {.f = &f, .failures = 1};

	fixture_init(&f, true);
	CHECK(!sql_open(&l.sql, NULL));
	sql_load_later(l.sql, load, &l, let_go);
	CHECK(!sql_add_recording(l.sql, "/nowhere/a.data", NULL));
	CHECK_STR(ask(l.sql, "SELECT 1; SELECT count(*) > 20 FROM temp.sqlite_master"), "1\n1\n");
	CHECK(!sql_describe(l.sql, NULL, &text, NULL));
	CHECK(strstr(buf_text(&text), "-- function, image, samples, weight_ns, share\n"));
	CHECK_STR(refusal(l.sql, "SELECT * FROM samples WHERE weigth"),
	          "no such column: weigth; did you mean weight?" PLACE(29));
	CHECK(strstr(refusal(l.sql, "SELECT * FROM events"), "/nowhere/a.data is not a file"));
	CHECK_EQ(l.asked, 0);
	/* A failure is reported, and the next call tries again. */
	CHECK_STR(refusal(l.sql, "SELECT * FROM by_function"), "the disk is gone");
	sql_stop_when(l.sql, &flag);
	flag = 1;
	CHECK_STR(refusal(l.sql, "SELECT count(*) FROM ledger"), "interrupted");
	flag = 0;
	CHECK_EQ(l.asked, 2);
	CHECK_STR(ask(l.sql, "SELECT sum(samples) FROM samples"), "101\n");
	CHECK_STR(ask(l.sql, "SELECT count(*) FROM processes; SELECT count(*) FROM gaps"),
	          "4\n0\n");
	CHECK_EQ(l.asked, 3);
	CHECK_EQ(l.done, 0);
	sql_close(l.sql);
	CHECK_EQ(l.done, 1);
	buf_done(&text);
	fixture_done(&f);
}

static void names_are_taken_for_the_nearest(void)
{
	struct fixture f;
	struct sql *s;

	fixture_init(&f, true);
	s = open_profile(&f);
	CHECK_STR(refusal(s, "SELECT 1 FROM sampels"),
	          "no such table: sampels; did you mean samples?");
	CHECK_STR(refusal(s, "SELECT 1 FROM nothing_like_it"),
	          "no such table: nothing_like_it; .tables lists the tables");
	CHECK_STR(refusal(s, "SELECT p.RUNABLE_ns FROM processes p"),
	          "no such column: p.RUNABLE_ns; did you mean runnable_ns?" PLACE(8));
	CHECK_STR(refusal(s, "SELECT stak_text(1)"),
	          "no such function: stak_text; did you mean stack_text?" PLACE(8));
	/* The unknown column resembles no column of the table: no suggestion. */
	CHECK_STR(refusal(s, "SELECT weight FROM hosts"), "no such column: weight" PLACE(8));
	sql_close(s);
	fixture_done(&f);
}

static void plans_show_what_is_looked_up(void)
{
	static const char question[] =
	        "EXPLAIN QUERY PLAN SELECT 1 FROM samples WHERE window = 2 AND time_ns >= 5";
	struct fixture f;
	struct sql *s;

	fixture_init(&f, true);
	s = open_profile(&f);
	CHECK(strstr(ask(s, question), "window=?"));
	CHECK(strstr(ask(s, question), "time_ns>=?"));
	CHECK(!strstr(ask(s, "EXPLAIN QUERY PLAN SELECT 1 FROM samples WHERE cpu = 1"), "cpu=?"));
	sql_close(s);
	fixture_done(&f);
}

int main(void)
{
	RUN(tables_that_a_query_does_not_need_are_not_loaded);
	RUN(names_are_taken_for_the_nearest);
	RUN(plans_show_what_is_looked_up);
	buf_done(&sql_rows);
	return check_end();
}
