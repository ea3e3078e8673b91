/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/calls/call_times.h"

#include "assay/wire.h"
#include "base/memory/sorted.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define UNITS 1024.0 /* a nanosecond */
/* The missed calls may change a percentile by this factor. */
#define MISSED_MOST 1.5
/* The error of a duration is at most this part of a percentile: the width of a bucket. */
#define ERROR_MOST 0.125
#define NO_BUCKET UINT32_MAX

void call_times_done(struct call_times *t)
{
	vec_done(&t->buckets);
}

double call_times_middle(uint32_t bucket)
{
	uint32_t power = bucket / 8 + 2;

	if (bucket < 8)
		return bucket;
	return ldexp(8 + bucket % 8, (int)power - 3) + (ldexp(1, (int)power - 3) - 1) / 2;
}

double call_times_bucket_ns(uint32_t bucket)
{
	return call_times_middle(bucket) / UNITS;
}

static void add(struct call_times *t, uint32_t bucket, uint64_t count)
{
	size_t at = sorted_count(i, t->buckets.count, t->buckets.items[i].bucket < bucket);
	struct call_times_bucket *items;

	if (at == t->buckets.count || t->buckets.items[at].bucket != bucket) {
		vec_push(&t->buckets, (struct call_times_bucket){0});
		items = t->buckets.items;
		memmove(items + at + 1, items + at, (t->buckets.count - 1 - at) * sizeof(*items));
		items[at] = (struct call_times_bucket){.bucket = bucket};
	}
	t->buckets.items[at].count += count;
}

void call_times_count(struct call_times *t, double ns, uint64_t count)
{
	double units = fmin(fmax(ns * UNITS, 0), 0x1p62);

	add(t, assay_times_bucket(llrint(units)), count);
}

void call_times_merge(struct call_times *to, const struct call_times *from)
{
	to->timed += from->timed;
	to->squares += from->squares;
	to->missed += from->missed;
	to->error_ns += from->error_ns;
	vec_each (b, &from->buckets)
		add(to, b->bucket, b->count);
}

static double sum_of(const struct call_times *t)
{
	double sum = 0;

	vec_each (b, &t->buckets)
		sum += (double)b->count;
	return sum;
}

uint64_t call_times_unknown(const struct call_times *t, uint64_t calls)
{
	double known;

	if (!t || !t->timed)
		return calls;
	known = sum_of(t) + (double)t->missed + ASSAY_TIMES_FIRST - 1;
	/* A call that was chosen at random represents a number of calls, which scatters. */
	if (t->squares != t->timed && known * 2 >= (double)calls)
		return 0;
	return known < (double)calls ? calls - (uint64_t)known : 0;
}

/* The bucket of the call with this rank, from 0 on, or NO_BUCKET. */
static uint32_t bucket_at_rank(const struct call_times *t, double rank)
{
	double before = 0;

	if (rank < 0)
		return NO_BUCKET;
	vec_each (b, &t->buckets) {
		before += (double)b->count;
		if (rank < before)
			return b->bucket;
	}
	return NO_BUCKET;
}

/* Calls that were chosen at random give a percentile with an error of chance. */
static bool chance_is_within_a_bucket(const struct call_times *t, double all, double part)
{
	double equal = all * all / (double)t->squares;
	double chosen = fmax(1 - (double)t->timed / all, 0); /* 0: all calls were timed */
	double away = 1.96 * sqrt(part * (1 - part) / equal * chosen);
	uint32_t bucket = bucket_at_rank(t, part * all);
	uint32_t low = bucket_at_rank(t, (part - away) * all);
	uint32_t high = bucket_at_rank(t, (part + away) * all);

	return low != NO_BUCKET && high != NO_BUCKET && low + 1 >= bucket && high <= bucket + 1;
}

double call_times_percentile(const struct call_times *t, uint64_t unknown, double part)
{
	double all = sum_of(t), missed = (double)t->missed + (double)unknown, rank, ns;
	uint32_t low, high;

	/*
	 * Timed calls with different weights contain as much information as all * all / squares
	 * calls with equal weights. At least one of them has to lie beyond the percentile.
	 */
	if (!t->timed || !t->squares || all * all / (double)t->squares * (1 - part) < 1 - 1e-9)
		return NAN;
	/* The missed calls may all be the longest or the shortest. */
	rank = part * (all + missed);
	high = bucket_at_rank(t, rank);
	low = bucket_at_rank(t, rank - missed);
	if (low == NO_BUCKET || high == NO_BUCKET ||
	    call_times_bucket_ns(high) > call_times_bucket_ns(low) * MISSED_MOST ||
	    !chance_is_within_a_bucket(t, all, part))
		return NAN;
	ns = call_times_bucket_ns(bucket_at_rank(t, part * all));
	return t->error_ns / (double)t->timed <= ERROR_MOST * ns ? ns : NAN;
}

double call_times_scatter(const struct call_times *t)
{
	double all = sum_of(t), mean = 0, squares = 0;

	if (t->timed < 2 || all <= 0)
		return 0;
	vec_each (b, &t->buckets)
		mean += call_times_bucket_ns(b->bucket) * (double)b->count / all;
	vec_each (b, &t->buckets)
		squares += pow(call_times_bucket_ns(b->bucket) - mean, 2) * (double)b->count;
	return sqrt(squares / all);
}

double call_times_percentile_between(const struct call_times *t, uint64_t unknown, double part,
                                     double min_ns, double max_ns)
{
	double ns = t ? call_times_percentile(t, unknown, part) : NAN;

	return isnan(ns) ? NAN : fmax(fmin(ns, max_ns), min_ns);
}
