/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock: a clock's time in ns. CLOCK_MONOTONIC is the kernel's own, by which it tells the times of
 * samples: in a time namespace (some containers) that is another one than programs are shown.
 * Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_CLOCK_H
#define ASSAY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* How far the one that we are shown is ahead of the kernel's. */
int64_t clock_monotonic_ahead(void);

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	uint64_t ns;

	clock_gettime(clock, &t);
	ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return clock == CLOCK_MONOTONIC ? ns - (uint64_t)clock_monotonic_ahead() : ns;
}

#endif
