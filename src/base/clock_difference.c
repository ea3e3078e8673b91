/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock_difference.h"

int64_t clock_difference(clockid_t clock, clockid_t base)
{
	uint64_t shortest = UINT64_MAX;
	int64_t ahead = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_ns(base), now = clock_ns(clock);
		uint64_t took = clock_ns(base) - before;

		if (took >= shortest)
			continue;
		shortest = took;
		ahead = (int64_t)(now - before - took / 2);
	}
	return ahead;
}

uint64_t clock_wall_offset(void)
{
	return (uint64_t)clock_difference(CLOCK_REALTIME, CLOCK_MONOTONIC);
}
