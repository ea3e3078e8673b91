/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/time_axis.h"

#include "base/memory/hash.h"
#include "base/memory/xalloc.h"
#include "check.h"

#include <string.h>

#define TICK TIME_AXIS_STEP_NS
#define MS 1000000u

static uint64_t state = 1;

static uint64_t chance(uint64_t below)
{
	return hash_u64(state++) % below;
}

/* The same samples as in an axis, uncompressed. */
struct truth {
	struct time_axis axis;
	VEC(struct time_entry) samples;
	VEC(uint32_t) tracks; /* of each sample */
	uint64_t now[3];      /* per track */
};

static void truth_init(struct truth *t, uint64_t limit)
{
	*t = (struct truth){0};
	time_axis_init(&t->axis, limit);
	for (uint16_t i = 0; i < 3; i++)
		CHECK_EQ(time_axis_track(&t->axis, 0, i, 7), i);
}

static void truth_done(struct truth *t)
{
	time_axis_done(&t->axis);
	vec_done(&t->samples);
	vec_done(&t->tracks);
}

static void add(struct truth *t, uint32_t track, uint64_t after_ns, uint32_t row, uint64_t weight)
{
	struct time_entry e = {.row = row, .samples = 1, .weight = weight};

	t->now[track] += after_ns;
	e.time_ns = t->now[track];
	time_axis_add(&t->axis, track, &e);
	vec_push(&t->samples, e);
	vec_push(&t->tracks, track);
}

/* Ticks of a timer that changes its rate, long pauses, any rows, and a counter of any period. */
static void add_random(struct truth *t, uint32_t rows)
{
	uint32_t track = (uint32_t)chance(3), row = (uint32_t)chance(rows);
	uint64_t after = MS + chance(1000), weight = chance(50) ? MS : 4 * MS;

	if (!chance(1000))
		after = chance(3600) * 1000 * MS;
	if (track == 2)
		weight = chance(chance(100) ? 1000000 : UINT64_MAX >> 20);
	if (chance(3))
		row = row % 7;
	add(t, track, after, row, weight);
}

static void each_added_sample_is_read(void)
{
	struct truth t;
	struct time_cursor c[3];
	struct time_entry e;

	truth_init(&t, TIME_AXIS_BYTES);
	for (int i = 0; i < 300000; i++)
		add_random(&t, 1u << 31);
	CHECK_EQ(time_axis_step_ns(&t.axis), TICK);
	for (uint32_t i = 0; i < 3; i++)
		time_axis_seek(&c[i], &t.axis, i, 0);
	for (size_t i = 0; i < t.samples.count; i++) {
		const struct time_entry *want = &t.samples.items[i];

		if (!time_axis_next(&c[t.tracks.items[i]], &e) ||
		    e.time_ns != want->time_ns / TICK * TICK || e.row != want->row ||
		    e.samples != 1 || e.weight != want->weight) {
			CHECK_EQ(i, t.samples.count);
			break;
		}
	}
	for (uint32_t i = 0; i < 3; i++)
		CHECK(!time_axis_next(&c[i], &e));
	truth_done(&t);
}

enum { ROWS = 300 };

static void sums_of(const struct truth *t, uint64_t from_ns, uint64_t to_ns, struct time_sum *sums)
{
	uint64_t step = time_axis_step_ns(&t->axis);

	vec_each (s, &t->samples) {
		uint64_t time_ns = s->time_ns / step * step;

		if (time_ns < from_ns || time_ns >= to_ns)
			continue;
		sums[s->row].samples++;
		sums[s->row].weight += s->weight;
	}
}

static void check_range(const struct truth *t, uint64_t from_ns, uint64_t to_ns)
{
	struct time_sum got[ROWS] = {0}, want[ROWS] = {0};

	time_axis_rows(&t->axis, 0, from_ns, to_ns, got);
	sums_of(t, from_ns, to_ns, want);
	CHECK(!memcmp(got, want, sizeof(got)));
}

/* Sums of ranges are exact, however long the steps became. */
static void sums_are_exact_within_the_limit(void)
{
	struct truth t;
	uint64_t end, at = 0;
	bool over = false;

	truth_init(&t, 256 << 10);
	for (int i = 0; i < 400000; i++) {
		add_random(&t, ROWS);
		over |= t.axis.bytes > 256 << 10;
	}
	CHECK(!over);
	CHECK_EQ(t.axis.limit, 256 << 10);
	CHECK(time_axis_step_ns(&t.axis) > TICK);
	end = t.now[0];
	check_range(&t, 0, UINT64_MAX);
	while (at < end) {
		uint64_t next = at + chance(end / 20);

		check_range(&t, at, next);
		at = next;
	}
	truth_done(&t);
}

/* Samples that are late, and samples without a time. */
static void time_never_goes_back(void)
{
	struct time_entry e = {.row = 5, .samples = 1, .weight = 1};
	uint64_t times[] = {0, 0, 5 * TICK, 3 * TICK, 6 * TICK};
	uint64_t want[] = {0, 0, 5, 5, 6};
	struct time_cursor c;
	struct time_axis a;

	time_axis_init(&a, TIME_AXIS_BYTES);
	time_axis_track(&a, 0, 0, 0);
	for (size_t i = 0; i < 5; i++) {
		e.time_ns = times[i];
		time_axis_add(&a, 0, &e);
	}
	time_axis_seek(&c, &a, 0, 0);
	for (size_t i = 0; i < 5; i++) {
		CHECK(time_axis_next(&c, &e));
		CHECK_EQ(e.time_ns, want[i] * TICK);
	}
	time_axis_done(&a);
}

/* A row for each sample: no step is long enough. */
static void rows_beyond_the_limit_raise_it(void)
{
	struct truth t;

	truth_init(&t, 64 << 10);
	for (uint32_t i = 0; i < 50000; i++)
		add(&t, 0, MS, i * 2654435761u >> 1, MS);
	CHECK(t.axis.limit > 64 << 10);
	CHECK(t.axis.bytes <= t.axis.limit);
	truth_done(&t);
}

/* The bytes of a sample: a timer of 997 Hz in 1000 functions, then in 30. */
static double bytes_of_a_sample(uint64_t count, uint32_t rows)
{
	struct time_axis a;
	double bytes;

	time_axis_init(&a, TIME_AXIS_BYTES);
	time_axis_track(&a, 0, 0, 0);
	for (uint64_t i = 0; i < count; i++)
		time_axis_add(&a, 0,
		              &(struct time_entry){.time_ns = i * 1003009 + chance(3000),
		                                   .row = (uint32_t)chance(rows),
		                                   .samples = 1,
		                                   .weight = 1003009});
	CHECK(a.bytes <= TIME_AXIS_BYTES);
	CHECK_EQ(a.limit, TIME_AXIS_BYTES);
	bytes = (double)a.bytes / (double)count;
	printf("# %ju samples of %u rows: %.2f bytes each, steps of %.3f ms\n", (uintmax_t)count,
	       rows, bytes, (double)time_axis_step_ns(&a) / 1e6);
	time_axis_done(&a);
	return bytes;
}

static void samples_are_small(void)
{
	CHECK(bytes_of_a_sample(1000000, 1000) < 4.1);
	CHECK(bytes_of_a_sample(1000000, 30) < 3.1);
	if (check_long()) {
		CHECK(bytes_of_a_sample(50000000, 1000) < 1.35);
		CHECK(bytes_of_a_sample(50000000, 1000000) < 1.35);
	}
}

int main(void)
{
	RUN(each_added_sample_is_read);
	RUN(sums_are_exact_within_the_limit);
	RUN(time_never_goes_back);
	RUN(rows_beyond_the_limit_raise_it);
	RUN(samples_are_small);
	return check_end();
}
