/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_percentiles.h"

#include "profile/calls/call_times.h"

#include <math.h>

/* The unit of the buckets is a tick, although call_times treats it as 1/1024 ns. */
#define TICKS_NS 1024.0

struct tag_percentiles tag_percentiles_of(const struct tag_times *t, uint32_t function,
                                          uint64_t calls, uint64_t min, uint64_t max)
{
	static const double parts[TAG_TIMED_PERCENTILES] = {0.5, 0.9, 0.99};
	struct tag_percentiles p = {0};
	struct call_times times = {0};
	uint64_t count, unknown;

	for (uint32_t bucket = 0; bucket < TAG_TIMES_BUCKETS; bucket++) {
		count = tag_times_at(t, function, bucket);
		if (count)
			vec_push(&times.buckets, (struct call_times_bucket){bucket, count});
		times.timed += count;
	}
	times.squares = p.timed = times.timed; /* each call represents only itself */
	unknown = calls > p.timed ? calls - p.timed : 0;
	for (size_t i = 0; i < TAG_TIMED_PERCENTILES; i++)
		p.ticks[i] = TICKS_NS * call_times_percentile_between(&times, unknown, parts[i],
		                                                      (double)min / TICKS_NS,
		                                                      (double)max / TICKS_NS);
	call_times_done(&times);
	return p;
}
