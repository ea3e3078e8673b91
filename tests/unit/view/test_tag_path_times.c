/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations of the calls of paths: none is lost when a path gets a place of its own, and paths are
 * separate. */
#include "check.h"

#include "view/tags/tag_path_times.h"

static uint64_t calls_of(const struct tag_path_times *p, const struct tag_times *all,
                         uint64_t ticks)
{
	struct tag_times sum = {0};
	uint64_t calls;

	tag_times_reserve(&sum, 1);
	tag_path_times_merge(&sum, p, all);
	calls = tag_times_at(&sum, 0, tag_times_bucket(ticks));
	tag_times_done(&sum);
	return calls;
}

static void few_calls_need_no_place(void)
{
	struct tag_path_times p = {0};
	struct tag_times all = {0};

	CHECK_EQ(calls_of(&p, &all, 7), 0);
	for (int i = 0; i < TAG_PATH_TIMES_FIRST; i++)
		tag_path_times_count(&p, &all, 7);
	CHECK_EQ(p.place, 0);
	CHECK_EQ(all.index.count, 0);
	CHECK_EQ(calls_of(&p, &all, 7), TAG_PATH_TIMES_FIRST);
	tag_times_done(&all);
}

static void each_path_has_its_own_calls(void)
{
	struct tag_path_times a = {0}, b = {0};
	struct tag_times all = {0}, sum = {0};

	for (int i = 0; i < 100; i++) {
		tag_path_times_count(&a, &all, 7);
		tag_path_times_count(&b, &all, i % 2 ? 7 : UINT64_MAX);
	}
	CHECK(a.place && b.place && a.place != b.place);
	CHECK_EQ(calls_of(&a, &all, 7), 100);
	CHECK_EQ(calls_of(&a, &all, UINT64_MAX), 0);
	CHECK_EQ(calls_of(&b, &all, 7), 50);
	CHECK_EQ(calls_of(&b, &all, UINT64_MAX), 50);
	/* Paths of one row are merged; a cleared sum is empty. */
	tag_times_reserve(&sum, 1);
	tag_path_times_merge(&sum, &a, &all);
	tag_path_times_merge(&sum, &b, &all);
	CHECK_EQ(tag_times_at(&sum, 0, tag_times_bucket(7)), 150);
	tag_times_clear(&sum);
	CHECK_EQ(tag_times_at(&sum, 0, tag_times_bucket(7)), 0);
	tag_path_times_merge(&sum, &b, &all);
	CHECK_EQ(tag_times_at(&sum, 0, tag_times_bucket(7)), 50);
	tag_times_done(&sum);
	tag_times_done(&all);
}

int main(void)
{
	RUN(few_calls_need_no_place);
	RUN(each_path_has_its_own_calls);
	return check_end();
}
