/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits as rows of a comparison: their names, and when their differences are tested. */
#include "base/memory/buf.h"
#include "check.h"
#include "view/diff/diff.h"
#include "view/diff/diff_waits.h"
#include "wait_fixture.h"

#include <math.h>
#include <string.h>

static void check_name(const char *name, const char *place, const char *wanted)
{
	struct buf text = {0};

	diff_object_text(name, place, &text);
	CHECK_STR(buf_text(&text), wanted);
	buf_done(&text);
}

static void names_do_not_have_what_differs_in_each_run(void)
{
	check_name("table_lock", "take", "table_lock");
	check_name("table_lock+64", "take", "table_lock+64");
	check_name("mutex at 0x7f12ab", "take_table", "mutex in take_table");
	check_name("mutex at 0x7f12ab", NULL, "mutex");
	check_name("pipe:[5609199]", NULL, "pipe");
	check_name("socket:[12]", NULL, "socket");
	check_name("[eventpoll], descriptor 5", NULL, "[eventpoll], descriptor 5");
	check_name("tcp 127.0.0.1:5432 127.0.0.1:40000", NULL, "tcp 127.0.0.1:5432 127.0.0.1:*");
	check_name("tcp6 [::1]:32767 [::1]:32768", NULL, "tcp6 [::1]:32767 [::1]:*");
	check_name("udp6 [::]:53 -", NULL, "udp6 [::]:53 -");
	check_name("unix /run/x.sock 1234", NULL, "unix /run/x.sock");
	check_name("unix 77 1234", NULL, "unix");
	check_name("/data/file 12:40000", NULL, "/data/file 12:*");
	check_name("/data/report.12", NULL, "/data/report.12");
	check_name("epoll 4: tcp 127.0.0.1:5432 127.0.0.1:40000", NULL,
	           "epoll 4: tcp 127.0.0.1:5432 127.0.0.1:*");
	check_name("", NULL, "");
}

/* Three causes in each run; the lock of B takes twice as long. */
static void add_run(struct diff_runs *t, enum diff_side side, int number)
{
	uint32_t run = diff_runs_add(t, side, "r", 1);
	uint32_t rows[] = {diff_runs_row(t, "table_lock", "lock", "asker", DIFF_USER),
	                   diff_runs_row(t, "nanosleep", "sleep", "owner", DIFF_USER),
	                   diff_runs_row(t, "lost records", "other", "owner", DIFF_USER)};
	double ms[] = {side == DIFF_B ? 80 : 40, 200, side == DIFF_B ? 90 : 10};

	t->waits = t->exact = true;
	t->work_unit = "run";
	t->rows.items[rows[2]].unknown = true;
	for (int i = 0; i < 3; i++)
		diff_run_count(t, run, diff_runs_path(t, DIFF_NO_PATH, rows[i]), 4,
		               (ms[i] + 0.4 * number) * MS);
}

static struct diff *compared(struct diff_runs *t, int each)
{
	diff_runs_init(t);
	for (int i = 0; i < each; i++) {
		add_run(t, DIFF_A, i);
		add_run(t, DIFF_B, i + 1);
	}
	return diff_new(t, NULL);
}

static void single_recordings_are_not_tested(void)
{
	struct diff_runs t;
	struct diff *d = compared(&t, 1);

	CHECK(d->untested);
	CHECK_EQ(d->tested, 0);
	CHECK_EQ(d->listed, 0);
	CHECK_EQ(d->changes.count, 3);
	CHECK(d->whole.ratio > 1.4 && d->whole.ratio < 1.6);
	CHECK(d->whole.verdict == DIFF_SAME && isnan(d->whole.low));
	vec_each (change, &d->changes)
		CHECK(isnan(change->e.p) && isnan(change->e.low) && change->e.verdict == DIFF_SAME);
	diff_free(d);
	diff_runs_done(&t);
}

static void causes_of_several_runs_are_tested_and_unknown_ones_not(void)
{
	struct diff_runs t;
	struct diff *d = compared(&t, 4);

	CHECK(!d->untested);
	CHECK_EQ(d->tested, 2);
	CHECK_EQ(d->listed, 1);
	vec_each (change, &d->changes) {
		const char *name = intern_text(&t.texts, t.rows.items[change->row].function);

		CHECK_EQ(change->e.verdict == DIFF_CHANGED, !strcmp(name, "table_lock"));
	}
	CHECK_STR(diff_row_noun(&t, true), "causes");
	diff_free(d);
	diff_runs_done(&t);
}

static void the_releaser_of_most_of_the_time_is_named(void)
{
	struct diff_runs t;
	uint32_t row;

	diff_runs_init(&t);
	row = diff_runs_row(&t, "table_lock", "lock", "asker", DIFF_USER);
	CHECK(!diff_releaser(&t, row, DIFF_A));
	vec_push(&t.releases, (struct diff_release){row, intern_add(&t.texts, "owner"), {5, 1}});
	vec_push(&t.releases, (struct diff_release){row, intern_add(&t.texts, "other"), {4, 2}});
	CHECK_STR(diff_releaser(&t, row, DIFF_A), "owner");
	CHECK_STR(diff_releaser(&t, row, DIFF_B), "other");
	diff_runs_done(&t);
}

/* The first row with this name; ID_NONE: there is none. */
static uint32_t row_of(const struct diff_runs *t, const char *name)
{
	for (uint32_t i = 0; i < t->rows.count; i++)
		if (!strcmp(intern_text(&t->texts, t->rows.items[i].function), name))
			return i;
	return ID_NONE;
}

static void check_row(const struct diff_runs *t, const char *name, const char *kind, double count,
                      double ns)
{
	uint32_t row = row_of(t, name);
	double all_count = 0, all_ns = 0;

	CHECK(row != ID_NONE);
	if (row == ID_NONE)
		return;
	CHECK_STR(intern_text(&t->texts, t->rows.items[row].image), kind);
	CHECK_STR(intern_text(&t->texts, t->rows.items[row].mode), "cc1");
	vec_each (run, &t->runs)
		for (size_t i = 1; i < run->paths.count; i++)
			if (t->paths.items[i].row == row) {
				all_count += run->paths.items[i].count;
				all_ns += run->paths.items[i].cpu_ns;
			}
	CHECK(all_count == count && all_ns == ns);
}

/* A read of a pipe, two preempted waits, and a wait without a stack. */
static void fill(struct fixture *f, struct wait_log *log)
{
	struct wait_key read = key_at(f, PATH(f, "take", "ksys_read", "vfs_read", "pipe_read"));
	struct wait_key preempted = key_at(f, PATH(f, "take", "do_work")), lost;

	log->wanted = true;
	log->unknown_path = profile_path_add(f->profile, PATH_ROOT, 0);
	lost = key_at(f, log->unknown_path);
	read.in_system_call = true;
	read.argument = 3;
	read.descriptor = wait_log_descriptor(log, 0, 3, 0, "pipe:[42]");
	preempted.woken = WAIT_PREEMPTED;
	add_wait(log, &read, 30, ID_NONE);
	add_wait(log, &preempted, 5, ID_NONE);
	add_wait(log, &lost, 7, ID_NONE);
}

static void waits_of_a_report_are_rows(void)
{
	struct wait_options o = {.request = {.limit = -1}};
	struct wait_report *r = NULL;
	struct error err = {0};
	struct diff_runs t;
	struct fixture f;
	struct view *v;
	uint32_t row;

	fixture_init(&f, false);
	fill(&f, &f.profile->waits);
	v = view_new(f.profile, f.symbols);
	CHECK_EQ(wait_report_new(&r, v, &f.profile->waits, &o, &err), 0);
	diff_runs_init(&t);
	diff_add_waits(&t, diff_runs_add(&t, DIFF_A, "a", 1), r);
	CHECK(t.waits && t.exact);
	check_row(&t, "pipe", "pipe", 2, 2 * 30 * MS);
	check_row(&t, "preempted", "cpu", 2, 2 * 5 * MS);
	check_row(&t, "no stack", "other", 2, 2 * 7 * MS);
	row = row_of(&t, "no stack");
	CHECK(row != ID_NONE && t.rows.items[row].unknown);
	CHECK(!t.rows.items[row_of(&t, "pipe")].unknown);
	/* The causes are below the functions of the program that waited. */
	vec_each (path, &t.paths)
		if (path->row == row_of(&t, "pipe"))
			CHECK(path->parent != DIFF_NO_PATH &&
			      t.paths.items[path->parent].row == row_of(&t, "take"));
	diff_runs_done(&t);
	wait_report_free(r);
	view_free(v);
	fixture_done(&f);
}

int main(void)
{
	RUN(waits_of_a_report_are_rows);
	RUN(names_do_not_have_what_differs_in_each_run);
	RUN(single_recordings_are_not_tested);
	RUN(causes_of_several_runs_are_tested_and_unknown_ones_not);
	RUN(the_releaser_of_most_of_the_time_is_named);
	return check_end();
}
