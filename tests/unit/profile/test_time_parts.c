/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/time_parts.h"

#include "check.h"

#define SECOND UINT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
#define MOST 8
#define BEGIN (20000 * DAY) /* at a full hour */

/* The parts of all windows of a range, and their shares, are in the order of time and complete. */
static size_t check_range(uint64_t begin_ns, uint64_t length_ns, uint64_t window_ns)
{
	uint64_t last_ns = begin_ns + length_ns - window_ns, starts[MOST + 1];
	struct time_parts r = time_parts_between(begin_ns, last_ns, window_ns);
	double shares[MOST], sum = 0;
	size_t parts = time_parts_count(&r, MOST, shares), at = 0;

	CHECK(parts >= 1 && parts <= MOST);
	for (uint64_t t = begin_ns; t <= last_ns; t += window_ns) {
		size_t part = time_parts_at(&r, t, parts);

		CHECK(part < parts);
		CHECK(part == at || part + 1 == at);
		if (part == at)
			starts[at++] = t;
	}
	CHECK_EQ(at, parts);
	starts[parts] = begin_ns + length_ns;
	for (size_t i = 0; i < parts; i++) {
		double share = (double)(starts[i + 1] - starts[i]) / (double)length_ns;

		CHECK(shares[i] > share - 1e-9 && shares[i] < share + 1e-9);
		sum += shares[i];
	}
	CHECK(sum > 1 - 1e-9 && sum < 1 + 1e-9);
	return parts;
}

static uint64_t second_part(uint64_t begin_ns, uint64_t length_ns, uint64_t window_ns)
{
	struct time_parts r =
	        time_parts_between(begin_ns, begin_ns + length_ns - window_ns, window_ns);
	size_t parts = time_parts_count(&r, MOST, NULL);
	uint64_t t = begin_ns;

	while (!time_parts_at(&r, t, parts))
		t += window_ns;
	return t;
}

static void windows_of_any_range_are_divided(void)
{
	CHECK_EQ(check_range(BEGIN, 8 * SECOND, SECOND), 8);
	CHECK_EQ(check_range(BEGIN, 24 * SECOND, SECOND), 8);
	CHECK_EQ(check_range(BEGIN, 12 * SECOND, SECOND), 6);
	CHECK_EQ(check_range(BEGIN, 3 * SECOND, SECOND), 3);
	CHECK_EQ(check_range(BEGIN, SECOND, SECOND), 1);
	CHECK_EQ(check_range(BEGIN, 50 * 60 * SECOND, 10 * SECOND), 8);
}

static void long_ranges_are_divided_at_full_slots(void)
{
	CHECK_EQ(check_range(BEGIN, DAY, 10 * SECOND), 8);
	CHECK_EQ(second_part(BEGIN, DAY, 10 * SECOND), BEGIN + 3 * HOUR);
	CHECK_EQ(second_part(BEGIN, DAY, 600 * SECOND), BEGIN + 3 * HOUR);
	CHECK_EQ(check_range(BEGIN, HOUR, 10 * SECOND), 6);
	CHECK_EQ(second_part(BEGIN, HOUR, 10 * SECOND), BEGIN + 600 * SECOND);
	CHECK_EQ(check_range(BEGIN, 7 * DAY, 7200 * SECOND), 8);
	CHECK_EQ(second_part(BEGIN, 7 * DAY, 7200 * SECOND) % (2 * HOUR), 0);
}

static void ranges_may_begin_within_a_slot(void)
{
	uint64_t begin = BEGIN + 610 * SECOND;

	CHECK_EQ(check_range(begin, DAY, 10 * SECOND), 8);
	CHECK_EQ(second_part(begin, DAY, 10 * SECOND) % HOUR, 0);
	CHECK_EQ(second_part(begin, HOUR, 10 * SECOND) % (600 * SECOND), 0);
}

static void samples_with_times_of_their_own_are_divided_evenly(void)
{
	struct time_parts r = time_parts_between(BEGIN, BEGIN + DAY, 0);
	double shares[MOST];

	CHECK_EQ(time_parts_count(&r, MOST, shares), MOST);
	CHECK(shares[0] > 0.1249 && shares[0] < 0.1251);
	CHECK_EQ(time_parts_at(&r, BEGIN, MOST), 0);
	CHECK_EQ(time_parts_at(&r, BEGIN + DAY / 2 + SECOND, MOST), MOST / 2);
	CHECK_EQ(time_parts_at(&r, BEGIN + DAY, MOST), MOST - 1);
}

/* As of an agent: the first window is longer than the others, and a time is rounded down. */
static void each_window_of_a_short_range_is_a_part(void)
{
	const uint64_t first = UINT64_C(1795719620000000000), length = UINT64_C(5000000000);
	const uint64_t longer[] = {0, 300, 1000000, 80000000};

	for (size_t i = 0; i < sizeof(longer) / sizeof(*longer); i++) {
		struct time_parts r =
		        time_parts_between(first, first + 3 * length - 1000, length + longer[i]);

		CHECK_EQ(time_parts_count(&r, 8, NULL), 4);
		for (size_t n = 0; n < 4; n++)
			CHECK_EQ(time_parts_at(&r, first + n * length - (n ? 1000 : 0), 4), n);
	}
}

int main(void)
{
	RUN(windows_of_any_range_are_divided);
	RUN(long_ranges_are_divided_at_full_slots);
	RUN(ranges_may_begin_within_a_slot);
	RUN(samples_with_times_of_their_own_are_divided_evenly);
	RUN(each_window_of_a_short_range_is_a_part);
	return check_end();
}
