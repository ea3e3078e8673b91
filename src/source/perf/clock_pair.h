/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_pair: the clock that the runtime in programs reads, and the kernel's, at one moment.
 *
 * Ticks are of the timestamp counter (x86-64) or the virtual counter (arm64);
 * nanoseconds are CLOCK_MONOTONIC_RAW's. Of several readings of both the tightest
 * counts: good to tens of nanoseconds. Any thread. Uses: include/assay/wire.h.
 */
#ifndef ASSAY_SOURCE_PERF_CLOCK_PAIR_H
#define ASSAY_SOURCE_PERF_CLOCK_PAIR_H

#include "assay/wire.h"

uint64_t clock_pair_ticks(void);
struct assay_calls_moment clock_pair_take(void);

#endif
