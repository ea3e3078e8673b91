/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock: the time of a clock in ns. The kernel timestamps samples with its own CLOCK_MONOTONIC. In
 * a time namespace (used by some containers), programs see CLOCK_MONOTONIC with an offset. Any
 * thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_CLOCK_H
#define ASSAY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The CLOCK_MONOTONIC that this process sees, minus the kernel's. */
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
