/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flat table: limits of rows, modes, intervals for unequal weights. */
#include "check.h"
#include "report_print.h"
#include "view_fixture.h"

#include "view/samples/flat.h"

#include <math.h>

static struct flat *flat_of(struct fixture *f, const struct flat_request *request)
{
	struct filter none = {0};
	struct view *v = view_new(f->profile, f->symbols);
	struct selection s = {0};
	struct error err = {0};
	struct flat *flat;

	CHECK_EQ(filter_select(v, &none, 0, &s, &err), 0);
	flat = flat_new(v, &s, request);
	selection_done(&s);
	return flat;
}

static void flat_done(struct flat *flat)
{
	struct view *v = flat->view;

	flat_free(flat);
	view_free(v);
}

static const struct flat_row *row_named(const struct flat *flat, const char *name)
{
	vec_each (row, &flat->rows)
		if (!strcmp(flat_function(flat, row), name))
			return row;
	printf("# there is no row of %s\n", name);
	CHECK(!"the row is there");
	return flat->rows.items;
}

/* 40, 20, 14, 10, 5, 5, 4 and 2 samples. */
static void rows_of_exactly_the_least_are_shown(void)
{
	struct flat_request request = {.keys = {FLAT_FUNCTION}, .key_count = 1};
	struct fixture f;
	struct flat *flat;
	struct flat_rest rest;

	fixture_init(&f, false);
	flat = flat_of(&f, &request);
	CHECK_EQ(flat->rows.count, 8);
	rest = flat_cut_least(flat, 0, 5, 0);
	CHECK_EQ(rest.shown, 6);
	CHECK_EQ(rest.rows, 2);
	CHECK_EQ(rest.samples, 6);
	rest = flat_cut_least(flat, 0, 6, 0);
	CHECK_EQ(rest.shown, 4);
	/*
	 * The row with the most samples has exactly the minimum: the rows below it stay in the
	 * rest.
	 */
	rest = flat_cut_least(flat, 0, 40, 0);
	CHECK_EQ(rest.shown, 1);
	rest = flat_cut_least(flat, 0, 41, 0);
	CHECK_EQ(rest.shown, 8);
	flat_done(flat);
	fixture_done(&f);
}

/*
 * Time without a sample (idle time without a tick) was measured: the row is shown without samples.
 */
static void measured_time_without_samples_is_shown(void)
{
	struct flat_request request = {.keys = {FLAT_FUNCTION}, .key_count = 1};
	struct fixture f;
	struct flat *flat;

	fixture_init(&f, false);
	fixture_row(&f, fixture_path(&f, "measured", NULL), f.sh, 0, PROFILE_USER, 0);
	vec_last(&f.profile->rows)->weight = 30 * MS;
	flat = flat_of(&f, &request);
	CHECK_EQ(flat_cut_least(flat, 0, 3, 0).shown, 8);
	CHECK_EQ(row_named(flat, "measured")->weight, 30 * MS);
	flat_done(flat);
	fixture_done(&f);
}

/* With children, a wait is in the rows of all its callers, so the table has no sum of waits. */
static void waits_of_the_rest_are_summed_without_children_alone(void)
{
	struct flat_request request = {.keys = {FLAT_FUNCTION}, .key_count = 1};
	struct fixture f;
	struct flat *flat;
	struct flat_rest rest;

	fixture_init(&f, true);
	fixture_wait(&f, fixture_path(&f, "main", "|", "pipe_read", NULL), f.sh, 7, 20);
	flat = flat_of(&f, &request);
	rest = flat_cut(flat, 2, 0);
	CHECK_EQ(rest.shown, 0);
	CHECK_EQ(rest.runnable_ns, 7 * MS);
	CHECK_EQ(rest.blocked_ns, 50 * MS);
	flat_done(flat);
	request.children = true;
	flat = flat_of(&f, &request);
	CHECK_EQ(row_named(flat, "main")->runnable_ns, 7 * MS);
	CHECK_EQ(row_named(flat, "main")->blocked_ns, 50 * MS);
	CHECK_EQ(row_named(flat, "futex_wait")->blocked_ns, 30 * MS);
	CHECK_EQ(flat->blocked_ns, 50 * MS);
	rest = flat_cut(flat, 2, 0);
	CHECK_EQ(rest.shown, 0);
	CHECK_EQ(rest.runnable_ns, 0);
	CHECK_EQ(rest.blocked_ns, 0);
	flat_done(flat);
	fixture_done(&f);
}

/* Code of a guest has the mode of the guest, although its frame is not in the kernel. */
static void modes_of_guest_samples_and_of_callers_of_the_kernel(void)
{
	struct flat_request request = {
	        .keys = {FLAT_MODE, FLAT_FUNCTION}, .key_count = 2, .children = true};
	struct fixture f;
	struct flat *flat;

	fixture_init(&f, false);
	fixture_row(&f, fixture_path(&f, "guest_code", NULL), f.sh, 0, PROFILE_GUEST, 3);
	flat = flat_of(&f, &request);
	CHECK_EQ(flat_mode(flat, row_named(flat, "guest_code")), VIEW_GUEST);
	CHECK_EQ(row_named(flat, "guest_code")->samples, 3);
	/* main has one row, for all modes of the samples below it. */
	CHECK_EQ(flat_mode(flat, row_named(flat, "main")), VIEW_USER);
	CHECK_EQ(row_named(flat, "main")->total_samples, 85);
	CHECK_EQ(flat_mode(flat, row_named(flat, "vfs_read")), VIEW_KERNEL);
	flat_done(flat);
	fixture_done(&f);
}

/* Samples of one row weigh four times as much: its interval moves with its share. */
static void intervals_of_unequal_weights_keep_their_proportion(void)
{
	struct flat_request request = {.keys = {FLAT_FUNCTION}, .key_count = 1, .intervals = true};
	struct flat *equal, *weighed;
	struct fixture f;

	fixture_init(&f, false);
	equal = flat_of(&f, &request);
	f.profile->rows.items[0].weight *= 4; /* hot: 40 samples of 100, 160 ms of 220 */
	f.profile->events.items[0].weight += 120 * MS;
	weighed = flat_of(&f, &request);
	CHECK(fabs(row_named(weighed, "hot")->share - 160.0 / 220) < 1e-9);
	vec_each (row, &equal->rows) {
		const struct flat_row *other = row_named(weighed, flat_function(equal, row));
		double factor = other->share / row->share;

		CHECK(row->low > 0 && row->low < row->share && row->share < row->high);
		CHECK(fabs(other->low - row->low * factor) < 1e-9);
		CHECK(fabs(other->high - fmin(1, row->high * factor)) < 1e-9);
	}
	CHECK(row_named(weighed, "hot")->high < 1);
	flat_done(weighed);
	f.profile->rows.items[0].weight *= 16; /* of 40 % of the samples: nearly all of the time */
	weighed = flat_of(&f, &request);
	CHECK(row_named(weighed, "hot")->high == 1);
	flat_done(weighed);
	flat_done(equal);
	fixture_done(&f);
}

int main(void)
{
	RUN(rows_of_exactly_the_least_are_shown);
	RUN(measured_time_without_samples_is_shown);
	RUN(waits_of_the_rest_are_summed_without_children_alone);
	RUN(modes_of_guest_samples_and_of_callers_of_the_kernel);
	RUN(intervals_of_unequal_weights_keep_their_proportion);
	return check_end();
}
