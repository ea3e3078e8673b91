/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store_wait_columns.h"

#include "base/memory/xalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Durations below 2^63 have smaller numbers. */
#define BUCKETS 1024

const char *const store_wait_sum_columns[STORE_WAIT_SUMS] = {
        "count",       "blocked_ns", "runnable_ns", "preempted_ns", "other_ns",
        "no_stack_ns", "lost_ns",    "no_waker_ns", "max_ns"};
const char *const store_wait_time_columns[STORE_TIME_SUMS] = {
        "threads", "wall_ns", "oncpu_ns", "unseen_ns", "before_ns", "wakings", "beyond", "coarse"};

void store_wait_times_put(const struct call_times *t, struct buf *out)
{
	bool first = true;

	vec_each (b, &t->buckets) {
		buf_addf(out, "%s%" PRIu32 ":%" PRIu64, first ? "" : " ", b->bucket, b->count);
		first = false;
	}
}

bool store_wait_times_bucket(uint64_t bucket, uint64_t count, struct call_times *t)
{
	struct call_times_bucket one = {(uint32_t)bucket, count};
	struct call_times add = {.timed = count, .squares = count};

	if (bucket >= BUCKETS || count > INT64_MAX - t->timed)
		return false;
	if (!count)
		return true;
	vec_push(&add.buckets, one);
	call_times_merge(t, &add);
	call_times_done(&add);
	return true;
}

bool store_wait_times_add(const char *text, struct call_times *t)
{
	bool whole = true;
	char *end;

	while (text && *text) {
		uint64_t bucket = strtoull(text, &end, 10), count;

		if (end == text || *end != ':')
			return false;
		text = end + 1;
		count = strtoull(text, &end, 10);
		if (end == text)
			return false;
		whole &= store_wait_times_bucket(bucket, count, t);
		text = end + strspn(end, " ");
	}
	return whole;
}

void store_waits_init(struct store_waits *w)
{
	*w = (struct store_waits){0};
	intern_init(&w->texts);
}

void store_waits_done(struct store_waits *w)
{
	vec_each (row, &w->rows)
		call_times_done(&row->times);
	vec_done(&w->rows);
	vec_done(&w->times);
	intern_done(&w->texts);
}

static uint64_t waited_ns(const struct store_wait *row)
{
	return row->sums[STORE_WAIT_BLOCKED] + row->sums[STORE_WAIT_RUNNABLE];
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = waited_ns(a), y = waited_ns(b);

	return x > y ? -1 : x < y;
}

static void add_row(struct store_wait *to, const struct store_wait *row)
{
	for (int i = 0; i < STORE_WAIT_MAX; i++)
		to->sums[i] += row->sums[i];
	if (row->sums[STORE_WAIT_MAX] > to->sums[STORE_WAIT_MAX])
		to->sums[STORE_WAIT_MAX] = row->sums[STORE_WAIT_MAX];
	call_times_merge(&to->times, &row->times);
}

/* The row of the others of a program and kind, from `from` on. */
static struct store_wait *others_of(struct store_waits *w, size_t from, uint32_t name,
                                    const struct store_wait *row)
{
	struct store_wait *made;

	for (size_t i = from; i < w->rows.count; i++) {
		struct store_wait *other = &w->rows.items[i];

		if (other->texts[STORE_WAIT_SERVICE] == row->texts[STORE_WAIT_SERVICE] &&
		    other->texts[STORE_WAIT_PROGRAM] == row->texts[STORE_WAIT_PROGRAM] &&
		    other->texts[STORE_WAIT_KIND] == row->texts[STORE_WAIT_KIND] &&
		    other->named == row->named)
			return other;
	}
	made = vec_add(&w->rows);
	made->texts[STORE_WAIT_SERVICE] = row->texts[STORE_WAIT_SERVICE];
	made->texts[STORE_WAIT_PROGRAM] = row->texts[STORE_WAIT_PROGRAM];
	made->texts[STORE_WAIT_KIND] = row->texts[STORE_WAIT_KIND];
	made->texts[STORE_WAIT_NAME] = name;
	made->named = row->named;
	return made;
}

void store_waits_limit(struct store_waits *w, size_t most)
{
	size_t count = w->rows.count;
	struct store_wait *rest;
	uint32_t name;

	if (count <= most)
		return;
	qsort(w->rows.items, count, sizeof(*w->rows.items), by_time);
	name = intern_add(&w->texts, STORE_WAIT_OTHERS);
	rest = xcalloc(count - most, sizeof(*rest));
	memcpy(rest, w->rows.items + most, (count - most) * sizeof(*rest));
	w->rows.count = most;
	for (size_t i = 0; i < count - most; i++) {
		add_row(others_of(w, most, name, &rest[i]), &rest[i]);
		call_times_done(&rest[i].times);
	}
	free(rest);
}
