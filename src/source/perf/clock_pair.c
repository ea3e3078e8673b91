/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/perf/clock_pair.h"

#include "base/clock.h"

/* Number of readings of both clocks; the reading with the shortest interval is used */
#define READINGS 8

uint64_t clock_pair_ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
#else
	return clock_ns(CLOCK_MONOTONIC_RAW); /* programs are not recorded on such a machine */
#endif
}

struct assay_calls_moment clock_pair_take(void)
{
	struct assay_calls_moment moment = {0};
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = clock_pair_ticks(), ns = clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t after = clock_pair_ticks();

		if (after - before >= best)
			continue;
		best = after - before;
		moment.ticks = before + best / 2;
		moment.ns = ns;
	}
	return moment;
}
