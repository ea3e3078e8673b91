/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_times: durations of the calls of a path or function, and their percentiles.
 *
 * A zeroed struct is empty; call_times_done() frees. Each duration is known to an eighth of a power
 * of two, and stands for some number of calls. Calls that were chosen and not timed are `missed`:
 * a percentile is given only if they cannot change it by more than a half, the error of the
 * durations is not more than an eighth of it, and the choice of the timed calls moves it by not
 * more than a bucket (95 %). Not thread-safe. Uses:
 * base, include/assay/wire.h.
 */
#ifndef ASSAY_PROFILE_CALLS_CALL_TIMES_H
#define ASSAY_PROFILE_CALLS_CALL_TIMES_H

#include "base/memory/vec.h"

#include <stdint.h>

struct call_times_bucket {
	uint32_t bucket; /* wire.h, in 1/1024 ns */
	uint64_t count;  /* number of calls that the timed calls represent */
};

struct call_times {
	uint64_t timed;   /* calls whose duration is known */
	uint64_t squares; /* sum of the squares of the numbers of calls that each timed call
	                     represents */
	uint64_t missed;
	double error_ns; /* sum over timed calls: half of a 95 % interval of the duration */
	VEC(struct call_times_bucket) buckets; /* in ascending order */
};

void call_times_done(struct call_times *t);
void call_times_count(struct call_times *t, double ns, uint64_t count);
void call_times_merge(struct call_times *to, const struct call_times *from);

/*
 * The number of a path's calls that no timed call represents: their durations are unknown, like
 * those of missed calls. `t` NULL: no call was timed.
 */
uint64_t call_times_unknown(const struct call_times *t, uint64_t calls);

/*
 * The duration in ns below which `part` (0 to 1) of the calls lie. NAN: there are too few calls, or
 * the missed and the `unknown` calls may change it too much.
 */
double call_times_percentile(const struct call_times *t, uint64_t unknown, double part);

/*
 * The same, between the shortest and the longest call (NAN: unknown), since buckets are wide.
 * `t` NULL: NAN.
 */
double call_times_percentile_between(const struct call_times *t, uint64_t unknown, double part,
                                     double min_ns, double max_ns);

/* The standard deviation of the durations, ns; 0: less than two calls were timed. */
double call_times_scatter(const struct call_times *t);

/* The middle of a bucket of wire.h, in the unit of its values. */
double call_times_middle(uint32_t bucket);
double call_times_bucket_ns(uint32_t bucket); /* the same of a bucket in 1/1024 ns */

#endif
